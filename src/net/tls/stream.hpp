// SPDX-License-Identifier: Apache-2.0
// One end of a TLS connection over a socket.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "net/tls/handshake.hpp"
#include "net/tls/traffic_key.hpp"

namespace weft::net::tls {

/// Bytes that wait to be sent.
class byte_queue {
 public:
  std::span<const std::byte> bytes() const noexcept { return {memory_.get() + begin_, size()}; }
  std::size_t size() const noexcept { return end_ - begin_; }
  /// Memory for n more, uninitialised; null: there is none.
  std::byte* append(std::size_t n) noexcept;
  void drop(std::size_t n) noexcept {
    begin_ += n;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void free_if_empty() noexcept {
    if (size() != 0) return;
    memory_.reset();
    capacity_ = 0;
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
  std::size_t capacity_ = 0, begin_ = 0, end_ = 0;
};

/// Reads and writes in the manner of recv(2) and send(2), on a connected socket that never waits
/// and that it does not own. OpenSSL shakes hands; then each record is sealed from where its bytes
/// are, and opened to where they belong. What is written is sealed at once: the caller's memory is
/// free when the call returns, and sealed bytes that the socket does not take are kept. Of what is
/// read, one system call may bring more than was asked for: then the socket may not be readable
/// although there is more (may_have_more). Only the constructors throw. One thread at a time.
class stream {
 public:
  using step = tls::step;

  /// The side that connects, and speaks first.
  /// \param with outlives the handshake \param socket outlives this \param name of the key, at most
  /// 64 bytes \throws weft::error (out_of_memory)
  stream(const settings& with, int socket, std::span<const std::byte> name, const key& shared);
  /// The side that accepts.
  /// \param find called within `shake_hands`: the key of that name; nothing ends the handshake
  /// \throws weft::error (out_of_memory)
  stream(const settings& with, int socket, key_finder find);
  /// The side that connects, by certificates, which `with` has.
  /// \param host for which the other side's has to be: a name, or a numeric address
  /// \throws weft::error (out_of_memory, invalid_argument)
  stream(const settings& with, int socket, std::string host);
  /// The side that accepts, by certificates. When its handshake is done, the other side's is not,
  /// as far as that side knows: it learns that by a first byte.
  /// \throws weft::error (out_of_memory)
  stream(const settings& with, int socket);
  ~stream();
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// Until it is done, nothing else may be called.
  step shake_hands() noexcept;
  /// A secret of both ends, another one for each connection. Its word for RFC 5705 is
  /// "EXPORTER-weft".
  const key& secret() const noexcept { return secret_; }
  /// Of the other side; null: by a key.
  const std::shared_ptr<const peer_certificate>& certificate() const noexcept { return peer_; }

  /// As recv(2). EPROTO: what came is not of this connection.
  ssize_t read(std::span<std::byte> into) noexcept;
  bool may_have_more() const noexcept { return may_have_more_; }

  /// As send(2), with the bytes that were sealed; some of them may wait in unsent(), and then the
  /// socket is full. \param gather more follows at once, and leaves with these
  ssize_t write(std::span<const std::byte> what, bool gather = false) noexcept;
  /// Sends what waits. \return false: not all of it; `errno` tells why
  bool flush() noexcept;
  std::span<const std::byte> unsent() const noexcept { return sealed_.bytes(); }
  /// Seals all of these, and sends nothing: unsent() has what to send. \return false: no memory
  bool seal_all(std::span<const std::byte> what) noexcept;

  /// For people; empty: nothing has gone wrong.
  const std::string& trouble() const noexcept { return trouble_; }
  /// Frees memory that only traffic needs.
  void rest() noexcept;

 private:
  bool seal(std::span<const std::byte> what, content kind = content::data) noexcept;
  bool receive() noexcept;
  std::size_t whole_record() noexcept;
  std::size_t open(std::size_t size, std::span<std::byte> into) noexcept;
  void take(content kind, std::span<const std::byte> what) noexcept;
  void refused(int alert) noexcept;
  void broken(const char* why) noexcept;

  const std::uint64_t records_of_key_;
  const int socket_;
  std::unique_ptr<handshake> handshake_;  // until it is done
  key secret_{};
  std::shared_ptr<const peer_certificate> peer_;
  std::optional<traffic_key> own_, others_;
  byte_queue sealed_;
  std::unique_ptr<std::byte[]> in_;
  std::size_t begin_ = 0, end_ = 0;    // of what has come, in in_
  std::span<const std::byte> opened_;  // in in_, before begin_: of a record that was opened there
  int fault_ = 0;                      // an errno, for all further calls
  int write_fault_ = 0;                // the same, and what has come can still be read
  bool is_full_ = false;               // the socket takes nothing
  bool has_ended_ = false;             // the other side
  bool may_have_more_ = false;
  std::string trouble_;
};

}  // namespace weft::net::tls
