// SPDX-License-Identifier: Apache-2.0
// The messages between rank 0 and the other ranks of a job that meets at rank 0, as frames.
// docs/wire-format.md has the tables. `publish` is that of
// job_wire.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "wireup/base/frame.hpp"
#include "wireup/base/identity.hpp"
#include "wireup/job/job_wire.hpp"

namespace weft::wireup {

/// A rank enters. It may be refused (frame_kind::refusal).
struct root_hello {
  peer_id rank = no_peer;
  peer_id size = 0;
  /// Equal for processes that can share memory: they have the kernel and the network namespace in
  /// common.
  context_id host;
};

/// All ranks are there.
struct root_welcome {
  context_id job;
  peer_id size = 0;
  peer_id local_size = 0;  ///< how many of them have the receiver's host
  peer_id per_host = 0;    ///< as job::per_host
};

/// Where ranks listen: a part of the directory, as long as a frame may be.
struct directory_part {
  peer_id first = 0;
  std::vector<std::string> locators;  ///< of `first` and those behind it; empty: it has ended
};

frame encode(const root_hello& h);
frame encode(const root_welcome& w);
/// As many of the locators, from `first` on, as fit. \param locators of all ranks
frame encode_directory_part(const std::vector<std::string>& locators, peer_id first);
/// \param ends not empty; as many of them as fit, and these are taken away
frame encode_ranks_ended(std::vector<job_ended>& ends);
/// Asks for the part that begins with this rank.
frame encode_directory_find(peer_id first);
/// The last frame of a side that leaves in good order.
frame encode_orderly_bye();

/// Each of these is empty when the frame is of another kind or its bytes are malformed.
std::optional<root_hello> decode_root_hello(const frame& f);
std::optional<root_welcome> decode_root_welcome(const frame& f);
std::optional<directory_part> decode_directory_part(const frame& f);
std::optional<peer_id> decode_directory_find(const frame& f);
std::optional<std::vector<job_ended>> decode_ranks_ended(const frame& f);
bool is_orderly_bye(const frame& f);

}  // namespace weft::wireup
