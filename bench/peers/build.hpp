// SPDX-License-Identifier: Apache-2.0
// The peer program for MPI, built here and now.
#pragma once

#include <filesystem>
#include <string>

namespace weft::bench {

/// Builds the program of mpi_peer.cpp in `folder`, by this machine's C++ compiler (`CXX`, else c++,
/// g++ or clang++) with the flags that `wrapper`, an mpicc, tells. The sources lie beside an
/// installed program (../share/weft/bench), else in a folder bench above this program.
/// \return the program
/// \throws std::runtime_error with the command and what the compiler said
std::filesystem::path build_mpi_peer(const std::filesystem::path& wrapper,
                                     const std::filesystem::path& folder);

}  // namespace weft::bench
