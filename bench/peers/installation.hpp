// SPDX-License-Identifier: Apache-2.0
// Installations that the user names, beside the packages of the system: today's peers.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "peers/launch.hpp"

namespace weft::bench {

/// An MPI anywhere: PREFIX/bin has its mpirun and mpicc.
struct installation {
  std::string name;  ///< of its contestants
  std::filesystem::path prefix;

  /// Of "NAME=PREFIX". \throws std::invalid_argument
  static installation from(const std::string& text);
};

/// The configurations of `which` for `transport`. Builds the peer program with it at once, in a
/// folder that lives as long as one of the peers (peer::keeps).
/// \throws std::runtime_error: it is neither Open MPI nor MPICH, or the build fails
std::vector<peer> installed_peers(const installation& which, const std::string& transport);

}  // namespace weft::bench
