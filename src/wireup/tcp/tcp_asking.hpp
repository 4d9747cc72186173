// SPDX-License-Identifier: Apache-2.0
// The handshake over TCP, from the connecting side.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "wireup/auth/handshake.hpp"
#include "wireup/auth/hello.hpp"
#include "wireup/auth/introduction.hpp"
#include "wireup/base/failure.hpp"
#include "wireup/loop/loop.hpp"
#include "wireup/sockets/locator.hpp"
#include "wireup/tcp/encryption.hpp"

namespace weft::wireup {

/// Connects to a host, which may have several addresses. Then either asks where a listener's Unix
/// socket is, or proves that it knows the job's key and checks that the other side does, or shows a
/// certificate and checks the other side's. If the other side hangs up in the middle, perhaps to
/// make room for other clients, it tries again a few times. Gives up after ten seconds. On the
/// loop's thread; keeps itself alive until it has ended.
class tcp_asking : public std::enable_shared_from_this<tcp_asking> {
 public:
  /// Either `answer` or `socket`, or a failure: errc::refused when no process listens there or the
  /// other side does not admit this one, else errc::unreachable.
  struct outcome {
    std::optional<listener_answer> answer;
    proven_socket socket;  ///< both sides know the key; frames may follow
    failure why;
    /// Nothing of weft has answered there: it may be about to start.
    bool may_come = false;
  };
  using answered = std::function<void(outcome)>;

  /// \param where a name or a numeric address; an empty one: loopback
  /// \param called the name of the address in messages
  /// \param by nothing: asks for a listener's Unix socket
  tcp_asking(std::shared_ptr<loop> on, tcp_place where, std::string called, tcp_proof by,
             std::shared_ptr<encryption> encrypts, answered done);
  void start();
  /// Ends at once; `done` is not called.
  void close();

 private:
  static constexpr int most_tries_to_open = 5;
  static constexpr const char* no_answer =
      "it hung up without an answer; the listener has just been closed, is not weft's, or has no "
      "file descriptor left (ulimit -n)";
  static constexpr const char* another_version = "what listens there is not this version of weft";
  static constexpr const char* no_key_there =
      "the process that listens there does not know the job's key";
  static constexpr const char* not_admitted =
      "it hung up: this side's job key is not that job's (WEFT_JOB_KEY)";

  void connect_next();
  void connect_to(const asio::ip::tcp::endpoint& to);
  void hung_up(const char* why, int most_tries);
  void open();
  void read_answer();
  void read_reply();
  void on_reply(std::optional<approach> takes);
  void read_challenge();
  void disagree(approach takes);
  void begin_to_encrypt();
  void shake_hands();
  void await_verdict();
  void pass();
  void read_confirmation();
  template <std::size_t N, class Next>
  void read(std::array<std::byte, N>& into, const char* words, Next next);
  template <std::size_t N, class Next>
  void write(const std::array<std::byte, N>& from, Next next);
  void fail(errc kind, const std::string& why);
  void end(outcome result);

  const tcp_place where_;
  const std::string called_;
  const tcp_proof by_;
  const std::shared_ptr<encryption> encryption_;
  net::tls::stance stance_{};  // towards the other side
  approach approach_ = approach::ask;
  prover prover_;
  answered done_;
  const std::shared_ptr<loop> loop_;
  asio::ip::tcp::socket socket_;
  asio::steady_timer patience_;
  std::vector<asio::ip::tcp::endpoint> found_;
  std::size_t next_ = 0;
  asio::ip::tcp::endpoint at_;
  asio::error_code last_fault_;
  asio::steady_timer pause_;
  const char* last_words_ = nullptr;  // why the other side hung up last, if it did
  int hang_ups_ = 0;
  bool met_ = false;  // the other side has answered
  opening opening_{};
  std::size_t heard_ = 0;  // of the opening that is the verdict
  std::array<std::byte, nonce_size> nonce_{};
  std::unique_ptr<net::tls::stream> sealed_;
  std::array<std::byte, listener_answer_size> answer_{};
  challenge challenge_{};
  proof proof_{};
  digest confirmation_{};
};

}  // namespace weft::wireup
