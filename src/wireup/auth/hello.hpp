// SPDX-License-Identifier: Apache-2.0
// The first frames between two contexts, as bytes. docs/wire-format.md has the tables.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "wireup/auth/context_key.hpp"
#include "wireup/auth/job_key.hpp"
#include "wireup/base/frame.hpp"
#include "wireup/base/identity.hpp"

namespace weft::wireup {

inline constexpr std::uint32_t wire_magic = 0x54464557;  // "WEFT"
inline constexpr std::uint16_t wire_version = 11;

/// Longest private data or discriminator, and longest reason of a refusal, in bytes.
inline constexpr std::size_t max_private_data = 1024;
inline constexpr std::size_t max_reason = 1024;

/// The purpose of the connecting side.
enum class purpose : std::uint8_t {
  connect = 0,             ///< a channel, without a connection request
  request_connection = 1,  ///< to be admitted at a listener
  meet = 2                 ///< to meet a peer that meets us; the private data is the discriminator
};

/// Fresh random bytes: the messages of one conversation are useless in another.
using nonce = std::array<std::byte, 32>;

/// The first frame of the accepting side.
struct invitation {
  public_key key{};
  nonce fresh{};
};

/// introduction.hpp sets and checks the keys, the random bytes and the proofs.
struct hello {
  purpose why = purpose::connect;
  public_key key{};
  nonce fresh{};
  lane_number lane = 0;               ///< of the other side, that is wanted; not at a listener
  identity who;                       ///< the id follows from the key; the kernel tells the pid
  std::uint64_t listener_number = 0;  ///< the listener; 0: the one that owns this socket
  std::uint64_t ticket = 0;  ///< the number of the sender's meeting; orders meetings of one context
  std::string private_data;
  digest proof{};
};

struct welcome {
  identity who;  ///< without the id, which follows from the invitation's key, and without the pid
  digest proof{};
};

frame encode(const invitation& i);
frame encode(const hello& h);
frame encode_welcome(const welcome& w);
frame encode_refusal(const std::string& reason, refusal_kind kind = refusal_kind::any);

/// A decoded frame, or one sentence that says what is wrong with the frame.
template <class T>
struct decoded {
  std::optional<T> value;
  std::string wrong;
};

decoded<invitation> decode_invitation(const frame& f);
decoded<hello> decode_hello(const frame& f);
decoded<welcome> decode_welcome(const frame& f);
/// The reason, with all unprintable characters replaced.
std::string decode_refusal(const frame& f);

/// The answer to a question over TCP at an "any://" listener: which Unix socket to connect to.
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
