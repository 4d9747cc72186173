// SPDX-License-Identifier: Apache-2.0
#include "peers/launch.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <stdexcept>

#include "support/affinity.hpp"
#include "support/hosts.hpp"

namespace weft::bench {
namespace {

using family = peer::family;

struct package {
  const char* program;
  const char* launcher;  // null: it starts its processes itself
  const char* packages;
};

package installed_as(family which) {
  switch (which) {
    case family::openmpi:
      return {"weft-peer-openmpi", "mpirun.openmpi", "openmpi-bin libopenmpi-dev"};
    case family::mpich:
      return {"weft-peer-mpich", "mpirun.mpich", "mpich libmpich-dev"};
    case family::asio:
      return {"weft-peer-asio", nullptr, "libasio-dev"};
    case family::zeromq:
      break;
  }
  return {"weft-peer-zmq", nullptr, "libzmq3-dev"};
}

/// Debian's openmpi-mca-params.conf says `pml = ^ucx` and `btl = ^uct,openib,ofi`; the command line
/// wins over it, so each configuration names its layers instead of relying on a default.
std::vector<std::string> mca(std::initializer_list<std::pair<const char*, const char*>> settings) {
  std::vector<std::string> result;
  for (const auto& [name, value] : settings) {
    result.emplace_back("--mca");
    result.emplace_back(name);
    result.emplace_back(value);
  }
  return result;
}

/// Ranks place themselves (support/affinity.hpp), so the launchers must not. As many slots as cores
/// are given, so that Open MPI yields when idle exactly when there are more ranks than cores, as it
/// does by default.
std::vector<std::string> launch_arguments(const peer& which, int ranks) {
  std::vector<std::string> result;
  if (which.library == family::openmpi) {
    result = {"--bind-to", "none", "--host", fmt::format("localhost:{}", allowed_cores().size())};
    if (::geteuid() == 0) result.emplace_back("--allow-run-as-root");
    if (static_cast<std::size_t>(ranks) > allowed_cores().size())
      result.emplace_back("--oversubscribe");
  } else {
    result = {"-bind-to", "none", "-launcher", "fork"};
  }
  result.insert(result.end(), which.launcher_arguments.begin(), which.launcher_arguments.end());
  result.emplace_back(which.library == family::openmpi ? "-np" : "-n");
  result.push_back(fmt::format("{}", ranks));
  return result;
}

/// Open MPI's settings are those of weft-mpirun, as for any user.
constexpr const char* weft_launcher = "weft-mpirun";

}  // namespace

peer openmpi_on_weft(const std::string& transport) {
  return {.name = "Open MPI on weft",
          .transport = transport,
          .progress = "dedicated",
          .about = "libweft-fi.so under Open MPI's mtl ofi (weft-mpirun)",
          .library = family::openmpi,
          .launcher_arguments = {},
          .environment = {{"WEFT_TRANSPORTS", "self," + transport}},
          .on_weft = true};
}

std::vector<peer> known_peers(const std::string& transport) {
  // No other library has qdma: over it, too, they use their own shared memory.
  if (transport == "shm" || transport == "qdma")
    return {
        {.name = "Open MPI vader",
         .transport = "shm",
         .progress = "polling",
         .about = "shared memory by Open MPI's own layers (ob1, vader); polls",
         .library = family::openmpi,
         .launcher_arguments = mca({{"pml", "ob1"}, {"btl", "vader,self"}}),
         .environment = {}},
        {.name = "Open MPI UCX",
         .transport = "shm",
         .progress = "polling",
         .about = "shared memory by UCX under Open MPI; polls",
         .library = family::openmpi,
         // Without these two it declines hosts that have no InfiniBand.
         .launcher_arguments = mca(
             {{"pml", "ucx"}, {"pml_ucx_tls", "any"}, {"pml_ucx_devices", "any"}, {"osc", "^ucx"}}),
         .environment = {{"UCX_TLS", "sm,self"}, {"UCX_WARN_UNUSED_ENV_VARS", "n"}}},
        {.name = "MPICH",
         .transport = "shm",
         .progress = "polling",
         .about = "shared memory by MPICH's ch4 over UCX; polls",
         .library = family::mpich,
         .launcher_arguments = {},
         .environment = {}},
        {.name = "MPICH async",
         .transport = "shm",
         .progress = "async",
         .about = "the same with its progress thread",
         .library = family::mpich,
         .launcher_arguments = {},
         .environment = {{"MPICH_ASYNC_PROGRESS", "1"}}},
    };
  if (transport == "tcp")
    return {
        {.name = "Open MPI tcp",
         .transport = "tcp",
         .progress = "polling",
         .about = "MPI by ob1 over btl tcp; polls, one thread for messages",
         .library = family::openmpi,
         .launcher_arguments = mca({{"pml", "ob1"}, {"btl", "tcp,self"}}),
         .environment = {}},
        {.name = "MPICH tcp",
         .transport = "tcp",
         .progress = "polling",
         .about = "MPI by ch4 over UCX's tcp; polls, one thread for messages",
         .library = family::mpich,
         .launcher_arguments = {},
         .environment = {{"MPIR_CVAR_NOLOCAL", "1"},
                         {"UCX_TLS", "tcp,self"},
                         {"UCX_WARN_UNUSED_ENV_VARS", "n"}}},
        {.name = "Asio coroutines",
         .transport = "tcp",
         .progress = "polling",
         .about = "awaitables over a socket, a window in one write; polls, one thread",
         .library = family::asio,
         .launcher_arguments = {},
         .environment = {}},
        {.name = "ZeroMQ tcp",
         .transport = "tcp",
         .progress = "thread",
         .about = "PAIR sockets, zmq_send and zmq_recv; sleeps, one I/O thread beside the caller's",
         .library = family::zeromq,
         .launcher_arguments = {},
         .environment = {}},
    };
  throw std::invalid_argument(
      fmt::format("no peer is known for the transport {}; there are shm and tcp", transport));
}

namespace {

/// The interface of a peer's TCP. Each host has its own loopback, so the ranks of Open MPI reach
/// the launcher through the other interface, too.
void choose_interface(command& run, const peer& which, bool apart) {
  const char* const interface = apart ? hosts::interface : "lo";
  if (which.on_weft) run.environment["WEFT_TCP_INTERFACES"] = interface;
  if (which.library == family::openmpi) {
    run.environment["OMPI_MCA_btl_tcp_if_include"] = interface;
    if (apart) run.environment["PMIX_MCA_ptl_base_if_include"] = interface;
  } else if (which.library == family::mpich) {
    run.environment["UCX_NET_DEVICES"] = interface;
  }
}

}  // namespace

command launch_command(const peer& which, int ranks, const std::vector<std::string>& program,
                       const std::filesystem::path& bin, bool hosts) {
  const auto files = installed_as(which.library);
  const auto named = which.launcher.string();
  const auto launcher = !named.empty()   ? find_program(named)
                        : files.launcher ? find_program(files.launcher)
                                         : std::nullopt;
  const auto weft = which.on_weft ? find_program((bin / weft_launcher).string()) : std::nullopt;
  if (files.launcher && !launcher)
    throw std::runtime_error(
        fmt::format("{} was not found; apt-get install {}", files.launcher, files.packages));
  if (which.on_weft && !weft)
    throw std::runtime_error(fmt::format(
        "{} was not built; build the target weft-mpirun, or say where it lies with --bin",
        (bin / weft_launcher).string()));

  command result;
  if (launcher) {
    if (weft) {
      result.argv.push_back(weft->string());
      if (which.quiet) result.argv.emplace_back("--quiet");
      result.argv.emplace_back("--mpirun");
    }
    result.argv.push_back(launcher->string());
    for (auto& argument : launch_arguments(which, ranks))
      result.argv.push_back(std::move(argument));
  }
  result.argv.insert(result.argv.end(), program.begin(), program.end());
  result.environment = which.environment;
  if (which.on_weft) {
    result.environment["WEFT_DUMP_SIGNAL"] = "USR2";  // Open MPI passes this one on to its ranks
    result.dump_signal = SIGUSR2;
  }
  if (which.transport == "tcp") choose_interface(result, which, hosts);
  return result;
}

command peer_command(const peer& which, const job& what, const std::filesystem::path& bin) {
  const auto files = installed_as(which.library);
  const std::string program =
      which.program.empty() ? (bin / files.program).string() : which.program.string();
  std::vector<std::string> words{program, what.bench};
  for (auto& argument : what.arguments()) words.push_back(std::move(argument));
  for (const auto& [option, value] :
       {std::pair{"--transport", which.transport}, std::pair{"--progress", which.progress}}) {
    words.emplace_back(option);
    words.push_back(value);
  }
  auto result = launch_command(which, what.among_many() ? what.ranks : 2, words, bin, what.hosts);
  if (!find_program(program))
    throw std::runtime_error(
        fmt::format("{} was not built; apt-get install {}, then configure and build again", program,
                    files.packages));
  return result;
}

}  // namespace weft::bench
