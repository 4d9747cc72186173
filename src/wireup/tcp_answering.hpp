// SPDX-License-Identifier: Apache-2.0
// Somebody who connected over TCP, until it is known what it wants and whether it may.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "wireup/handshake.hpp"
#include "wireup/hello.hpp"
#include "wireup/introduction.hpp"
#include "wireup/loop.hpp"

namespace weft::wireup {

/// Reads 8 bytes from an accepted connection. A question for an "any://" listener's Unix socket is
/// answered (who may come in is decided there, where the kernel vouches for the user); whoever
/// wants to prove that it knows the job's key is challenged. Everybody gets five seconds in all,
/// and no more bytes are read than the conversation has. On the loop's thread; keeps itself alive
/// until it has ended.
class tcp_answering : public std::enable_shared_from_this<tcp_answering> {
 public:
  struct terms {
    std::optional<listener_answer> answer;  ///< nothing: questions are not answered here
    job_key key;                            ///< empty: nobody comes in
    std::function<void(runtime::unique_fd, const admission&)> admit;  ///< it knows the key
    /// It does not: its socket, which is closed then, and what it did instead, for people. Not
    /// called for those who were answered or who hung up without a word.
    std::function<void(int socket, std::string what)> turn_away;
  };

  tcp_answering(loop& on, runtime::unique_fd socket, terms t);

  /// Whether somebody who has just been accepted has said too much already to be anybody, or has
  /// left. Most strangers have, and are to cost no more than this look; who has not spoken yet may
  /// still be somebody. \return what was wrong, for people; empty: it left without a word
  static std::optional<std::string_view> is_nobody(int socket) noexcept;

  void start();
  /// How far it has come. Who has shown less makes room first.
  enum class standing { silent, spoken, proven };
  standing shown() const noexcept { return shown_; }
  /// Ends at once; nobody is called.
  void close();

 private:
  template <std::size_t N, class Next>
  void read(std::array<std::byte, N>& into, Next next);
  void on_opening();
  void on_proof();
  void turn_away(std::string what);

  asio::ip::tcp::socket socket_;
  asio::steady_timer patience_;
  terms terms_;
  standing shown_ = standing::silent;
  opening opening_{};
  proof proof_{};
  std::optional<challenger> challenger_;
  std::vector<std::byte> answer_;
  digest confirmation_{};
};

}  // namespace weft::wireup
