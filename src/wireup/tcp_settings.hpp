// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "wireup/job_key.hpp"

namespace weft::wireup {

/// How contexts on other hosts reach this one, and it them.
struct tcp_settings {
  job_key key = {};                          ///< empty: no TCP at all, neither in nor out
  std::vector<std::string> interfaces = {};  ///< whose addresses peers are told; none: all
  std::chrono::seconds peer_timeout{10};     ///< silence after which a TCP channel is broken
  bool listens = true;                       ///< false: out only
};

}  // namespace weft::wireup
