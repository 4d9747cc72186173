// SPDX-License-Identifier: Apache-2.0
#include "peers/installation.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <stdexcept>
#include <utility>

#include "peers/build.hpp"
#include "support/scratch_directory.hpp"
#include "support/subprocess.hpp"

namespace weft::bench {
namespace {

namespace fs = std::filesystem;
using family = peer::family;

/// What `program` prints, or nothing.
std::string said_by(const fs::path& program, const std::string& argument) {
  const auto result = run_command({{program.string(), argument}, {}}, std::chrono::seconds(30));
  return result.ok() ? result.out + result.err : std::string();
}

fs::path program_of(const installation& which, const char* name) {
  const auto path = which.prefix / "bin" / name;
  if (!find_program(path.string()))
    throw std::runtime_error(fmt::format(
        "{}: {} is not there, or may not be run; --mpi NAME=PREFIX needs mpirun and mpicc in "
        "PREFIX/bin",
        which.name, path.string()));
  return path;
}

family family_of(const installation& which, const std::string& said) {
  const auto has = [&](const char* text) { return said.find(text) != std::string::npos; };
  if (has("Open MPI") || has("OpenRTE")) return family::openmpi;
  if (has("HYDRA")) return family::mpich;
  throw std::runtime_error(
      fmt::format("{}: mpirun --version names neither Open MPI nor MPICH's launcher Hydra, and no "
                  "other is known",
                  which.name));
}

/// Its name for itself differs from the name of the system's configuration.
std::string renamed(const peer& known, const std::string& name) {
  for (const char* usual : {"Open MPI", "MPICH"})
    if (known.name.starts_with(usual)) return name + known.name.substr(std::string(usual).size());
  return name;
}

}  // namespace

installation installation::from(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw std::invalid_argument(
        fmt::format("--mpi {}: it has to be NAME=PREFIX, as ompi5=/opt/openmpi-5", text));
  return {text.substr(0, equals), fs::absolute(text.substr(equals + 1))};
}

std::vector<peer> installed_peers(const installation& which, const std::string& transport) {
  const auto launcher = program_of(which, "mpirun"), wrapper = program_of(which, "mpicc");
  const auto library = family_of(which, said_by(launcher, "--version"));
  const auto folder = std::make_shared<scratch_directory>();
  fmt::print(stderr, "{}: building the MPI program with {}\n", which.name, wrapper.string());
  const auto program = build_mpi_peer(wrapper, folder->path());
  const auto info = which.prefix / "bin/ompi_info";
  const bool tells = find_program(info.string()).has_value();
  const auto parts = tells ? said_by(info, "--parsable") : std::string();

  std::vector<peer> all;
  for (auto& one : known_peers(transport)) {
    if (one.library != library) continue;
    // Many are built without UCX; then this one would be another one.
    if (one.name == "Open MPI UCX" && tells && parts.find("mca:pml:ucx") == std::string::npos)
      continue;
    // btl vader is sm since 5.0.
    if (tells && parts.find("mca:btl:sm:") != std::string::npos &&
        parts.find("mca:btl:vader:") == std::string::npos)
      for (auto& argument : one.launcher_arguments)
        if (argument == "vader,self") argument = "sm,self";
    one.name = renamed(one, which.name);
    one.about += "; " + which.prefix.string();
    one.program = program;
    one.launcher = launcher;
    one.keeps = folder;
    // MPICH may be built over libfabric instead of UCX.
    if (transport == "tcp" && library == family::mpich)
      one.environment.insert({{"FI_PROVIDER", "tcp"}, {"FI_TCP_IFACE", "lo"}});
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace weft::bench
