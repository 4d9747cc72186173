// SPDX-License-Identifier: Apache-2.0
// The start of each peer library: launcher, settings, environment, and the advice if it is missing.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "support/job.hpp"
#include "support/subprocess.hpp"

namespace weft::bench {

/// Another library in one configuration.
struct peer {
  std::string name;       ///< "Open MPI vader"
  std::string transport;  ///< as in the JSON lines: "shm" or "tcp"
  std::string progress;   ///< "polling", or "async" for a library's own progress thread
  std::string about;      ///< a short description
  enum class family { openmpi, mpich, asio, zeromq } library = family::openmpi;
  std::vector<std::string> launcher_arguments;
  std::map<std::string, std::string> environment;
  bool on_weft = false;  ///< its messages use weft: started with weft-mpirun
  bool quiet = true;     ///< without weft-mpirun's watch for the announcement of rank 0; programs
                         ///< of this folder report by themselves whether they run on weft

  std::filesystem::path program = {};      ///< empty: that of its family, beside weft-bench
  std::filesystem::path launcher = {};     ///< empty: that of its family, on PATH
  std::shared_ptr<const void> keeps = {};  ///< what `program` needs to be there

  bool is_mpi() const { return library == family::openmpi || library == family::mpich; }

  /// Peers without a launcher have two processes: no overlap, no collectives.
  bool takes_part(const job& what) const {
    return is_mpi() || what.bench == "latency" || what.bench == "rate" || what.bench == "bandwidth";
  }
};

/// The peers for `transport` ("shm" or "tcp"), in the order of the tables.
std::vector<peer> known_peers(const std::string& transport);

/// Open MPI with its messages on weft, over `transport` and nothing else.
peer openmpi_on_weft(const std::string& transport);

/// The command that starts `ranks` processes of `program`, a path and its arguments. `hosts` as in
/// job; `bin` is the folder of weft-mpirun. Throws std::runtime_error, with the cure, when a
/// launcher is not installed.
command launch_command(const peer& which, int ranks, const std::vector<std::string>& program,
                       const std::filesystem::path& bin, bool hosts);

/// The command that runs `what` with `which`; the peer programs are in `bin`. Throws
/// std::runtime_error, with the cure, when its program or launcher is not installed.
command peer_command(const peer& which, const job& what, const std::filesystem::path& bin);

}  // namespace weft::bench
