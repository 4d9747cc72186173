// SPDX-License-Identifier: Apache-2.0
// The TCP side of an "any://" door: it only tells where the Unix socket is. Who may come in is
// decided there, where the kernel vouches for the user.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "wireup/address.hpp"
#include "wireup/hello.hpp"
#include "wireup/loop.hpp"

namespace weft::wireup {

/// Answers one question on an accepted TCP connection and closes it; gives up after five seconds.
/// On the loop's thread; keeps itself alive until it has ended.
class door_answering : public std::enable_shared_from_this<door_answering> {
 public:
  door_answering(loop& on, runtime::unique_fd socket, const door_answer& answer);
  void start();
  void close();

 private:
  asio::ip::tcp::socket socket_;
  asio::steady_timer patience_;
  std::array<std::byte, door_question_size> question_{};
  std::vector<std::byte> answer_;
};

/// Asks a door where to go. `done` is called once on the loop's thread, with an answer or a failure
/// (see connection_manager::knock); not after `close`.
class door_asking : public std::enable_shared_from_this<door_asking> {
 public:
  using answered = std::function<void(std::optional<door_answer>, std::string failure)>;

  door_asking(loop& on, door_address address, answered done);
  void start();
  void close();

 private:
  void connect_next();
  void ask();
  void hung_up();
  void fail(const std::string& why, bool refused);
  void end(std::optional<door_answer> answer, std::string failure);

  const door_address address_;
  answered done_;
  asio::ip::tcp::resolver resolver_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer patience_;
  asio::ip::tcp::resolver::results_type found_;
  asio::ip::tcp::resolver::results_type::const_iterator next_;
  asio::error_code last_fault_;
  std::array<std::byte, door_answer_size> answer_{};
};

}  // namespace weft::wireup
