// SPDX-License-Identifier: Apache-2.0
// The handshake of a TLS connection, by OpenSSL.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
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

/// Names of keys cross the wire in clear. The span is valid during the call.
using key_finder = std::function<std::optional<key>(std::span<const std::byte> name)>;

enum class step {
  done,         ///< both ends have proven that they have the key
  again,        ///< goes on when the socket is readable
  turned_away,  ///< the other side refuses: as a rule it has another key, or none of that name
  hung_up,      ///< the other side has closed the connection
  failed        ///< what it says is wrong
};

/// Of a connected socket, of which it reads not a byte more. One thread at a time.
class handshake {
 public:
  /// A side that has proven nothing cannot make the other one read more.
  static constexpr std::size_t most_bytes = 8 * 1024;
  static constexpr std::size_t most_bytes_of_certificates = 32 * 1024;

  /// The side that connects, or, without a name, the one that accepts. The arguments are those of
  /// `stream`. \throws weft::error
  handshake(const settings& with, int socket, std::span<const std::byte> name, const key& shared);
  handshake(const settings& with, int socket, key_finder find);
  handshake(const settings& with, int socket, std::string host);
  handshake(const settings& with, int socket);
  ~handshake();
  handshake(const handshake&) = delete;
  handshake& operator=(const handshake&) = delete;

  step go_on() noexcept;
  /// For people; empty: nothing has gone wrong.
  const std::string& trouble() const noexcept { return trouble_; }

  // Once it is done:
  /// From these the keys of the records of each side are made (RFC 8446, 7.3).
  const key& own_traffic() const noexcept { return traffic_[is_server_ ? 1 : 0]; }
  const key& others_traffic() const noexcept { return traffic_[is_server_ ? 0 : 1]; }
  /// A secret of both ends, another one for each connection and word (RFC 5705).
  key secret_for(std::string_view word) const noexcept;
  /// Null: it has proven that it has the key. \throws std::bad_alloc
  std::shared_ptr<const peer_certificate> certificate() const;

 private:
  friend struct callbacks;
  struct release {
    void operator()(ssl_st* what) const noexcept;
  };

  void begin(const settings& with);
  ssize_t receive(std::span<std::byte> into) noexcept;
  bool append(std::span<const std::byte> what) noexcept;
  bool flush() noexcept;
  void note_secret(std::string_view line) noexcept;
  bool is_proven() const noexcept;
  std::string words_of(unsigned long why) const;
  step judge() noexcept;
  void drop_rest() noexcept;

  const int socket_;
  const bool is_server_;
  const std::string authority_;  // its file; empty: by a key
  std::string host_;             // of the other side; empty: any
  peer_certificate refused_;     // the other side's, if it is refused
  std::vector<std::byte> name_;
  key shared_{};
  key_finder find_;
  std::unique_ptr<ssl_st, release> session_;
  std::vector<std::byte> unsent_;
  std::array<key, 2> traffic_{};  // the client's, the server's
  unsigned secrets_ = 0;          // how many of them are known
  std::size_t heard_ = 0;         // bytes
  int fault_ = 0;                 // an errno of the socket; EPROTO: the other side says too much
  bool is_empty_ = false;         // the socket has nothing
  bool has_ended_ = false;        // the other side
  std::string trouble_;
};

}  // namespace weft::net::tls
