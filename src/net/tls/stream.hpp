// SPDX-License-Identifier: Apache-2.0
// One end of a TLS connection over a socket.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "net/tls/settings.hpp"

struct ssl_st;

namespace weft::net::tls {

/// A secret that both ends share.
using key = std::array<std::byte, 32>;

/// Reads and writes in the manner of recv(2) and send(2), on a connected socket that never waits
/// and that it does not own. What is written is sealed at once: the caller's memory is free when
/// the call returns, and sealed bytes that the socket does not take are kept. Of what is read, one
/// system call may bring more than was asked for: then the socket may not be readable although
/// there is more (may_have_more). Only the constructors throw. One thread at a time.
class stream {
 public:
  /// Names of keys cross the wire in clear. The span is valid during the call.
  using key_finder = std::function<std::optional<key>(std::span<const std::byte> name)>;

  /// A side that has proven nothing cannot make the other one read more.
  static constexpr std::size_t most_of_handshake = 8 * 1024;

  /// The side that connects, and speaks first.
  /// \param with outlives this \param socket outlives this \param name of the key, at most 64 bytes
  /// \throws weft::error (system) without memory
  stream(const settings& with, int socket, std::span<const std::byte> name, const key& shared);
  /// The side that accepts.
  /// \param find called within `handshake`: the key of that name; nothing ends the handshake
  /// \throws weft::error (system) without memory
  stream(const settings& with, int socket, key_finder find);
  ~stream();
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  enum class step {
    done,         ///< both ends have proven that they have the key
    again,        ///< goes on when the socket is readable
    turned_away,  ///< the other side refuses: as a rule it has another key, or none of that name
    hung_up,      ///< the other side has closed the connection
    failed        ///< trouble() tells why
  };
  step handshake() noexcept;

  /// As recv(2). EPROTO: what came is not of this connection.
  ssize_t read(std::span<std::byte> into) noexcept;
  bool may_have_more() const noexcept { return may_have_more_; }

  /// As send(2), with the bytes that were sealed; a record or so of them may wait in unsent(), and
  /// then the socket is full. \param gather more follows at once, and leaves with these
  ssize_t write(std::span<const std::byte> what, bool gather = false) noexcept;
  /// Sends what waits. \return false: not all of it; `errno` tells why
  bool flush() noexcept;
  std::span<const std::byte> unsent() const noexcept { return std::span(sealed_).subspan(sent_); }
  /// Seals all of these, and sends nothing: unsent() has what to send. \return false: no memory
  bool seal_all(std::span<const std::byte> what) noexcept;

  /// A secret of both ends, another one for each connection and word (RFC 5705). After the
  /// handshake.
  key secret_for(std::string_view word) const noexcept;
  /// For people; empty: nothing has gone wrong.
  const std::string& trouble() const noexcept { return trouble_; }
  /// Frees memory that only traffic needs.
  void rest() noexcept;

 private:
  friend struct callbacks;
  struct release {
    void operator()(ssl_st* what) const noexcept;
  };

  void begin();
  step judge_handshake() noexcept;
  bool seal(std::span<const std::byte> what) noexcept;
  bool take_sealed(std::span<const std::byte> record) noexcept;
  ssize_t send_some(std::span<const std::byte> what) noexcept;
  bool look() noexcept;
  ssize_t receive(std::span<std::byte> into) noexcept;
  ssize_t end_of_reading() noexcept;
  void note_trouble(const char* otherwise) noexcept;

  const settings& with_;
  const int socket_;
  std::vector<std::byte> name_;
  key shared_{};
  key_finder find_;
  std::unique_ptr<ssl_st, release> session_;
  std::vector<std::byte> sealed_;
  std::size_t sent_ = 0;               // bytes of sealed_
  std::unique_ptr<std::byte[]> look_;  // what OpenSSL has not taken yet
  std::size_t looked_ = 0, taken_ = 0;
  std::size_t heard_ = 0;      // bytes of the handshake
  std::uint64_t records_ = 0;  // under this traffic key
  int fault_ = 0;              // for all further calls: an errno
  bool is_open_ = false;       // the handshake is over
  bool is_full_ = false;       // the socket takes nothing
  bool is_empty_ = false;      // the socket has nothing
  bool is_bulk_ = false;       // the last look brought more than a record
  bool has_ended_ = false;     // the other side
  bool may_have_more_ = false;
  std::string trouble_;
};

}  // namespace weft::net::tls
