// SPDX-License-Identifier: Apache-2.0
// What a served side says of itself: to its server, which passes it on to the client.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>
#include <weft/context_address.hpp>
#include <weft/weft.hpp>

namespace weft::bench {

/// Without a key neither side listens or connects over TCP.
inline constexpr const char* needs_key =
    "client and server need the same job key: make one by `(umask 077; openssl rand -hex 32 > "
    "FILE)`, copy it to the other host, and add --key-file FILE on both (or set WEFT_JOB_KEY_FILE)";

/// "I listen at this address", or "I have failed, for this reason". A value.
class note {
 public:
  static note of(const context_address& where);
  static note of_failure(const std::string& why);
  /// From bytes of another process: any bytes.
  explicit note(std::vector<std::byte> bytes) : bytes_(std::move(bytes)) {}

  /// Nothing: it is about a failure, or makes no sense.
  std::optional<context_address> address() const;
  /// In printable characters.
  std::string failure() const;

  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  static constexpr std::size_t longest = 1024;

 private:
  std::vector<std::byte> bytes_;
};

/// The next note of a server. \throws weft::error
task<note> receive_note(endpoint server);
task<void> send_note(endpoint client, note what);

}  // namespace weft::bench
