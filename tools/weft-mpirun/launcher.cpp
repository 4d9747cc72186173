// SPDX-License-Identifier: Apache-2.0
#include "launcher.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <initializer_list>
#include <optional>
#include <stdexcept>

#include "command.hpp"
#include "provider.hpp"

namespace weft::mpirun {

namespace {

struct version {
  unsigned major = 0;
  unsigned minor = 0;
};

/// Out of "mpirun (Open MPI) 5.0.7", or "mpirun.openmpi (OpenRTE) 4.1.4".
std::optional<version> version_in(std::string_view said) {
  std::string_view rest;
  for (const std::string_view name : {"(Open MPI) ", "(OpenRTE) "})
    if (const std::size_t at = said.find(name); at != said.npos)
      rest = said.substr(at + name.size());
  version v;
  const char* const end = rest.data() + rest.size();
  const auto major = std::from_chars(rest.data(), end, v.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, v.minor);
  if (minor.ec != std::errc{}) return std::nullopt;
  return v;
}

}  // namespace

std::string find_mpirun(const std::string& asked) {
  if (!asked.empty()) {
    if (const std::string found = find_on_path(asked); !found.empty()) return found;
    throw std::runtime_error(
        fmt::format("--mpirun {}: there is no such program, or it may not be run", asked));
  }
  for (const char* name : {"mpirun.openmpi", "mpirun"})
    if (const std::string found = find_on_path(name); !found.empty()) return found;
  throw std::runtime_error(
      "neither mpirun.openmpi nor mpirun is on PATH: install openmpi-bin, or name it with "
      "--mpirun");
}

version_question::version_question(const std::string& mpirun)
    : pipe_(::popen((shell_line({mpirun, "--version"}) + " </dev/null 2>&1").c_str(), "re")) {}

std::string version_question::answer() {
  std::string said;
  std::array<char, 512> piece;
  while (pipe_) {
    const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe_.get());
    if (n == 0) break;
    said.append(piece.data(), n);
  }
  pipe_.reset();
  return said;
}

chosen_series series_for(std::string_view said, const std::string& mpirun) {
  const auto v = version_in(said);
  if (!v)
    throw std::runtime_error(
        fmt::format("{} is not Open MPI's launcher: asked for its version it says \"{}\". Name "
                    "Open MPI's with --mpirun; weft runs below no other MPI",
                    mpirun, said.substr(0, said.find('\n'))));
  const series nearest = v->major < 5 ? series::v4_1 : series::v5_0;
  if ((v->major == 4 && v->minor == 1) || (v->major == 5 && v->minor == 0)) return {nearest, ""};
  return {nearest,
          fmt::format("weft has been tried with Open MPI 4.1 and 5.0, and this is {}.{}: it gets "
                      "the settings of {}. weft-mpirun --verify shows whether that works",
                      v->major, v->minor, nearest == series::v4_1 ? "4.1" : "5.0")};
}

std::vector<setting> settings_for(series open_mpi, bool one_sided) {
  std::vector<setting> all;
  const auto add = [&all](std::initializer_list<setting> more) { all.insert(all.end(), more); };
  const bool is_4 = open_mpi == series::v4_1;
  // Debian's openmpi-mca-params.conf has `mtl = ^ofi`: so name it.
  if (is_4 || !one_sided)
    add({{"pml", "cm"}, {"mtl", "ofi"}, {"mtl_ofi_provider_include", "weft"}});
  if (one_sided) {
    add({{"btl", "self,ofi"}, {"btl_ofi_provider_include", "weft"}, {"osc", "sm,rdma"}});
    if (is_4)  // with atomics of its own, `btl ofi` ends the job at an MPI_MAX of a single number
      add({{"osc_rdma_acc_use_amo", "0"}});
    else  // before 5.0.9 only `pml ob1` opens a btl: its messages then go over that, too
      add({{"pml", "ob1"}, {"btl_ofi_mode", "2"}});
  } else if (is_4) {
    // As messages: of its components only pt2pt uses weft, and Debian excludes it. Ranks of one
    // host share the memory that MPI has allocated.
    add({{"osc", "sm,pt2pt"}});
  } else {
    // All that there are: Debian excludes UCX, the one that needs neither a btl nor pt2pt, which 5
    // does not have. Without the others it refuses hosts that have no device of its list.
    add({{"osc", "^pt2pt"}, {"opal_common_ucx_tls", "any"}, {"opal_common_ucx_devices", "any"}});
  }
  return all;
}

}  // namespace weft::mpirun
