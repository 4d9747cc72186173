// SPDX-License-Identifier: Apache-2.0
// The messages of a hostile peer of a NIC: those of a seeded state machine, most of them valid.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>

#include "bindings/vipl/base/wire.hpp"
#include "support/dice.hpp"

/// Keeps the accounts of a correct peer, so that it can be wrong by one. Its memory is bounded.
class hostile_messages {
 public:
  explicit hostile_messages(weft::tests::dice d) noexcept : dice_(d) {}

  /// A new connection; messages of earlier ones may be replayed in it.
  void begin(const weft::vipl::introduction& victim) noexcept;
  /// The victim has sent that.
  void heard(const weft::vipl::header& h, std::span<const std::byte> rest);
  /// The next message, which counts as sent.
  std::string next();
  /// A valid one without a body.
  std::string plain(weft::vipl::message what) const;

 private:
  std::string valid();
  std::string data();
  std::string piece();
  std::string list();
  std::string bent(std::string whole);
  std::string noise(std::size_t most);

  weft::tests::dice dice_;
  weft::vipl::introduction victim_{};
  std::uint32_t sent_ = 0;                             // messages that take a descriptor
  std::uint32_t heard_ = 0;                            // the same of the victim
  std::uint32_t shown_ = 0;                            // descriptors to the victim
  std::uint32_t dropped_ = 0, first_ = 0, known_ = 0;  // of the victim's last list
  std::uint32_t whole_ = 0, gone_ = 0;                 // of a send in pieces: its bytes
  std::optional<std::uint32_t> asked_;                 // for a message of the victim
  std::deque<std::string> past_;
};
