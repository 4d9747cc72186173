// SPDX-License-Identifier: Apache-2.0
// The first words of two contexts to each other, as bytes. docs/wire-format.md has the tables.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wireup/context_key.hpp"
#include "wireup/frame.hpp"
#include "wireup/identity.hpp"
#include "wireup/job_key.hpp"

namespace weft::wireup {

inline constexpr std::uint32_t wire_magic = 0x54464557;  // "WEFT"
inline constexpr std::uint16_t wire_version = 3;

/// Longest private data or discriminator, and longest reason of a refusal, in bytes.
inline constexpr std::size_t max_private_data = 1024;
inline constexpr std::size_t max_reason = 1024;

/// What whoever connects wants.
enum class purpose : std::uint8_t {
  connect = 0,             ///< a channel, without asking anybody
  request_connection = 1,  ///< to be let in at a listener
  meet = 2                 ///< to meet a peer that meets us; the private data is the discriminator
};

/// Fresh random bytes: what was said in one conversation fits no other.
using nonce = std::array<std::byte, 32>;

/// The first words of whoever was connected to.
struct invitation {
  public_key key{};
  nonce fresh{};
};

/// Keys, random bytes and proofs are put in and looked at by introduction.hpp.
struct hello {
  purpose why = purpose::connect;
  public_key key{};
  nonce fresh{};
  identity who;  ///< the id follows from the key; the pid is the kernel's to tell
  std::uint64_t listener_number = 0;  ///< which listener; 0: the one whose socket this is
  std::uint64_t ticket = 0;  ///< the number of the sender's meeting; orders meetings of one context
  std::string private_data;
  digest proof{};
};

struct welcome {
  identity who;  ///< without the id, which follows from the invitation's key, and the pid
  digest proof{};
};

frame encode(const invitation& i);
frame encode(const hello& h);
frame encode_welcome(const welcome& w);
frame encode_refusal(const std::string& reason);

/// A decoded frame, or one sentence about what is wrong with it.
template <class T>
struct decoded {
  std::optional<T> value;
  std::string wrong;
};

decoded<invitation> decode_invitation(const frame& f);
decoded<hello> decode_hello(const frame& f);
decoded<welcome> decode_welcome(const frame& f);
/// The reason, with everything that is not printable replaced.
std::string decode_refusal(const frame& f);

/// Asked over TCP at an "any://" listener, and the answer: where to go on a Unix socket.
struct listener_answer {
  std::uint64_t listener_number = 0;
  std::string locator;
};

inline constexpr std::size_t listener_question_size = 8;
inline constexpr std::size_t listener_answer_size = 16 + 37;

std::vector<std::byte> encode_listener_question();
bool is_listener_question(std::span<const std::byte> bytes);
std::vector<std::byte> encode(const listener_answer& a);
std::optional<listener_answer> decode_listener_answer(std::span<const std::byte> bytes);

}  // namespace weft::wireup
