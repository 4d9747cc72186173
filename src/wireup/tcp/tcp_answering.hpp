// SPDX-License-Identifier: Apache-2.0
// The handshake with a TCP client, from the accepting side.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "wireup/auth/handshake.hpp"
#include "wireup/auth/hello.hpp"
#include "wireup/auth/introduction.hpp"
#include "wireup/loop/loop.hpp"
#include "wireup/tcp/encryption.hpp"

namespace weft::wireup {

/// Reads 8 bytes from an accepted connection. A question for an "any://" listener's Unix socket is
/// answered; admission is decided at that socket, where the kernel vouches for the user. A client
/// that wants to prove that it knows the job's key is challenged, or shakes hands by TLS; at a
/// listener with certificates it shows one there. Each client has five seconds in all, and no more
/// bytes are read than the handshake has. On the loop's thread; keeps itself alive until it has
/// ended.
class tcp_answering : public std::enable_shared_from_this<tcp_answering> {
 public:
  struct terms {
    std::optional<listener_answer> answer;  ///< nothing: does not answer questions
    /// Without a key and certificates no client is admitted; with certificates none by the key.
    tcp_proof by;
    std::shared_ptr<wireup::encryption> encryption;
    std::function<void(proven_socket)> admit;  ///< the client has proven that it may come
    /// The client has not. Takes its socket, which is closed afterwards, and what the
    /// client did instead, for people. Not called for a client that was answered or that hung up
    /// without sending anything.
    std::function<void(int socket, std::string what)> turn_away;
  };

  tcp_answering(loop& on, unique_fd socket, terms t);

  /// Whether a newly accepted client has already sent bytes that are not weft's, or has left. Most
  /// clients of other programs have, and should cost no more than this check. A client that has not
  /// sent anything yet may still be valid. \return what was wrong, for people; empty: it left
  /// without sending anything
  static std::optional<std::string_view> is_unwanted(int socket) noexcept;

  void start();
  /// How far the client has come. When room is needed, clients that have come less far are closed
  /// first.
  enum class standing { silent, spoken, proven };
  standing shown() const noexcept { return shown_; }
  /// Ends at once; no function of `terms` is called.
  void close();

 private:
  template <std::size_t N, class Next>
  void read(std::array<std::byte, N>& into, Next next);
  void on_opening();
  void on_proof();
  void offer_instead(approach other, std::string what);
  void on_certify(approach wanted);
  std::unique_ptr<net::tls::stream> stream_by_key();
  void begin_to_encrypt(approach how, std::unique_ptr<net::tls::stream> by);
  void shake_hands();
  void let_in();
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
  std::unique_ptr<net::tls::stream> sealed_;
};

}  // namespace weft::wireup
