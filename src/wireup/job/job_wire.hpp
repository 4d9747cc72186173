// SPDX-License-Identifier: Apache-2.0
// The messages between a rank and its launcher, as frames. docs/wire-format.md has the tables.
#pragma once

#include <optional>
#include <string>

#include "wireup/base/byte_io.hpp"
#include "wireup/base/frame.hpp"
#include "wireup/base/identity.hpp"

namespace weft::wireup {

struct job_hello {
  context_id job;
  peer_id rank = no_peer;
};
struct job_welcome {
  context_id job;
  peer_id size = 0;
};
/// In place of a welcome, to the process that was started again for a rank that was lost: rank 0
/// may let it take the place.
struct vacant_place {
  context_id job;
  peer_id place = no_peer;
  peer_id size = 0;
  peer_id local_size = 1;  ///< as job::local_size
  std::string root;        ///< rank 0's locator
};
struct job_find {
  peer_id rank = no_peer;
  std::string gone;  ///< where the rank was, but no process listens now; empty: not tried yet
};
struct job_found {
  peer_id rank = no_peer;
  std::string locator;  ///< empty: that rank has ended
};
struct job_ended {
  peer_id rank = no_peer;
  bool died = false;
};

/// Begins the first frames of both sides.
byte_writer preamble_of_job();
/// False if the first bytes are not those of this version.
bool skip_preamble_of_job(byte_reader& in);

frame encode(const job_hello& h);
frame encode(const job_welcome& w);
frame encode(const vacant_place& v);
frame encode_publish(const std::string& locator);
frame encode(const job_find& f);
frame encode(const job_found& f);
frame encode(const job_ended& e);

/// Each of these is empty when the frame is of another kind or its bytes are malformed.
std::optional<job_hello> decode_job_hello(const frame& f);
std::optional<job_welcome> decode_job_welcome(const frame& f);
std::optional<vacant_place> decode_vacant_place(const frame& f);
std::optional<std::string> decode_publish(const frame& f);
std::optional<job_find> decode_find(const frame& f);
std::optional<job_found> decode_found(const frame& f);
std::optional<job_ended> decode_ended(const frame& f);

}  // namespace weft::wireup
