// SPDX-License-Identifier: Apache-2.0
// What started this process, and which rank of which job that makes it. Decides by the environment
// alone, and asks no other process.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <weft/message.hpp>

namespace weft::wireup {

/// More ranks than these are refused: rank 0 would keep and send too much for all of them.
inline constexpr peer_id most_at_root = 65536;

/// In the order in which they are looked for.
enum class starter { weft_run, by_hand, pmix, slurm, torchrun, kubernetes };

/// "weft-run", "by hand" ...
const char* name_of(starter s) noexcept;

/// Where rank 0 listens for the others, as they can reach it.
struct root_place {
  std::string host;  ///< a name or a numeric address, without brackets
  std::uint16_t port = 0;
};
std::string to_text(const root_place& p);

/// A rank of a job whose processes meet at rank 0.
struct given_rank {
  starter by = starter::by_hand;
  peer_id rank = 0;
  peer_id size = 1;
  root_place root;
};

/// How this module sees the environment; tests give another one. A value that is empty counts as
/// not set.
struct surroundings {
  std::function<std::optional<std::string>(const char* variable)> variable;
  /// The full name of this host; empty: it has none.
  std::function<std::string()> full_host_name;
  static surroundings of_process();
};

/// One line of weft-info.
struct starter_finding {
  starter which{};
  bool chosen = false;
  std::string why;  ///< the variables that count, or the one that is missing
};

/// All of them, in order. Says of contradictions what `rank_from` throws.
std::vector<starter_finding> examine_starters(const surroundings& s = surroundings::of_process());

/// Those that are there, in order: the first one counts. None: this process was started alone.
std::vector<starter> starters_of(const surroundings& s = surroundings::of_process());

/// \param by one that gives no directory of its own: not weft-run or pmix
/// \throws weft::error (invalid_argument) that names the variables that contradict each other
given_rank rank_from(starter by, const surroundings& s = surroundings::of_process());

/// The first host of a list as Slurm writes it: "node[03-07,9],login" is node03.
std::string first_host_of(const std::string& slurm_list);

}  // namespace weft::wireup
