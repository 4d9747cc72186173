// SPDX-License-Identifier: Apache-2.0
// The conventions between honest peers and the victim, which run different programs.
#pragma once

#include <cstdint>
#include <string_view>

#include <weft/weft.hpp>

#include "board.hpp"
#include "collectives/group_number.hpp"
#include "settings.hpp"
#include "support/pattern.hpp"

namespace hostile {

using weft::tests::bytes;
using weft::tests::pattern;

// Each honest peer asks the victim for one of these services by its private data.
inline constexpr const char* private_data_of_small = "small messages";
inline constexpr const char* private_data_of_large = "large messages";

inline constexpr std::size_t burst = 4;  // small messages directly behind each other
inline constexpr std::size_t longest_small = 600;
inline constexpr std::size_t longest_large = 300'000;
inline constexpr std::size_t region_bytes = 64 * 1024;

inline constexpr weft::tag tag_small{tag_honest | 1};
inline constexpr weft::tag tag_large{tag_honest | 2};
inline constexpr weft::tag tag_key{tag_honest | 3};
inline constexpr weft::tag tag_numbered{7};  // received from any source

/// The victim and the honest peer of small messages are a group: rank 0 and rank 1.
inline constexpr std::string_view honest_group = "honest";
/// Its number, which an attacker can compute.
inline std::uint64_t number_of_honest_group() {
  weft::collectives::number_of_group number(weft::collectives::origin::name);
  for (const char c : honest_group) number.add(static_cast<unsigned char>(c));
  return number.add(2).value();
}

/// Sizes of a round's messages, as both sides compute them.
constexpr std::size_t small_size(std::uint64_t n) noexcept { return 8 + n * 37 % longest_small; }
constexpr std::size_t large_size(std::uint64_t n) noexcept {
  return 1 + n * 77'777 % longest_large;
}

/// Every other large message is a loan, if there is room for one: the attacker may keep it all.
constexpr bool goes_as_loan(std::uint64_t n) noexcept { return n % 2 == 1; }
weft::task<void> send_large(weft::context& ctx, weft::endpoint to, std::uint64_t n);
/// Receives the message with that number into `in`. \return its size
weft::task<std::size_t> receive_large(weft::endpoint from, std::uint64_t n, bytes& in);

/// The victim's side. Each ends when the peer has gone, or throws an error that says what was
/// wrong.
weft::task<void> serve_small(weft::context& ctx, weft::endpoint to);
weft::task<void> serve_large(weft::context& ctx, weft::endpoint to);

/// An honest peer, until it is told to end. \return its exit status
int be_honest(board& on, const settings& s, std::size_t which);

}  // namespace hostile
