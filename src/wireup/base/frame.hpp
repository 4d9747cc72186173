// SPDX-License-Identifier: Apache-2.0
// The frames of a control connection. docs/wire-format.md has the byte tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <weft/transport/wireup_message.hpp>

#include "runtime/descriptors/fd.hpp"

namespace weft::wireup {

/// What a frame is. Numbers are part of the wire format: never reuse one.
enum class frame_kind : std::uint8_t {
  hello = 1,            ///< the first frame of the connecting side: its identity and its purpose
  welcome = 2,          ///< the positive answer, with the identity of the answering side
  refusal = 3,          ///< the negative answer, with the reason
  wireup_message = 4,   ///< a wire-up message of the layer above; `detail` is its kind
  bye = 5,              ///< last frame of a connection; `detail` is how the sender ends
  invitation = 6,       ///< before all others, from the accepting side: its key
  dump_request = 7,     ///< in place of a hello, over a Unix socket; `detail` is a dump_form
  dump_part = 8,        ///< of the answer: text; `detail` is 1 in the last one
  job_hello = 16,       ///< a rank to its launcher
  job_welcome = 17,     ///< the launcher's answer: how many ranks there are
  job_publish = 18,     ///< a rank tells where it listens
  job_find = 19,        ///< a rank asks where another rank listens
  job_found = 20,       ///< the launcher's answer to job_find
  job_ended = 21,       ///< the launcher tells that a rank ended
  root_hello = 22,      ///< a rank to rank 0, where the ranks of the job meet
  root_welcome = 23,    ///< rank 0: all ranks are there
  directory_find = 24,  ///< a rank asks for a part of the directory
  directory_part = 25,  ///< rank 0: where some ranks listen
  ranks_ended = 26,     ///< rank 0: which ranks have ended
  vacant_place = 27     ///< the launcher or rank 0: that rank was lost; this one may take its place
};

/// The `detail` of a refusal: what the requester can tell its user.
enum class refusal_kind : std::uint8_t {
  any = 0,           ///< the text of the refusal says it
  no_such_lane = 1,  ///< the context does not have the lane that was asked for
  not_yet = 2        ///< another job is there, which is about to end: try again
};

/// The `detail` of a dump_request.
enum class dump_form : std::uint8_t { text = 0, json = 1 };

/// The `detail` of a bye.
enum class bye_kind : std::uint8_t {
  orderly = 0,
  failed = 1,         ///< the sender's context ends by an exception
  no_descriptors = 2  ///< the sender has too few free descriptors for those it was sent
};

inline constexpr std::size_t max_frame_body = transports::wireup_message::max_bytes;

/// A frame in memory. Move-only.
struct frame {
  frame_kind kind{};
  std::uint8_t detail = 0;
  std::vector<std::byte> body;
  std::vector<unique_fd> fds;
};

/// What a dump_request asks for; nothing: it is none, or not as a correct process sends it.
std::optional<dump_form> form_of_dump(const frame& f) noexcept;

/// The eight bytes in front of each body.
struct frame_header {
  static constexpr std::size_t size = 8;
  static_assert(max_frame_body < (std::size_t{1} << 32));

  static std::array<std::byte, size> of(const frame& f);

  /// Takes a received packet apart; copies the body only after every field was checked. Empty when
  /// the packet is not a frame: wrong lengths, wrong count of descriptors.
  static std::optional<frame> parse(std::span<const std::byte> bytes, std::vector<unique_fd> fds);
};

}  // namespace weft::wireup
