// SPDX-License-Identifier: Apache-2.0
// weft-mpirun: starts an MPI program under Open MPI with weft below it.
#include <fmt/format.h>
#include <hwloc.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <string_view>

#include <weft/context.hpp>

#include "command.hpp"
#include "launcher.hpp"
#include "options.hpp"
#include "provider.hpp"
#include "runtime/descriptors/inherited_state.hpp"
#include "verify.hpp"
#include "watch.hpp"

namespace {

using namespace weft::mpirun;

unsigned cores() {
  int count = 0;
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) == 0) {
    if (hwloc_topology_load(topology) == 0)
      count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    hwloc_topology_destroy(topology);
  }
  return count > 0 ? static_cast<unsigned>(count) : 1;
}

std::vector<std::string> variables() {
  std::vector<std::string> names;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string_view text = *one;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

/// The message for the case that mpirun has ended and no rank reported that it runs on weft. It
/// states only facts: a job that the user ends because it takes long may be slow for any reason.
void explain(const outcome& ended) {
  if (ended.status == 0) {
    fmt::print(stderr,
               "weft-mpirun: the job ended well, but no rank said that it runs on weft. Is the "
               "program linked with Open MPI (ldd PROGRAM shows libmpi.so.40), and does it call "
               "MPI_Init?\n");
    return;
  }
  fmt::print(stderr,
             "weft-mpirun: the job ended with status {} before rank 0 said that it runs on weft, "
             "as it does inside MPI_Init. Why is not known here; what the program and Open MPI say "
             "is above. To find out:\n"
             "  weft-mpirun --verify            shows whether weft works here at all\n"
             "  weft-mpirun --default ...       the same without weft: does the program run?\n"
             "  FI_LOG_LEVEL=warn weft-mpirun -x FI_LOG_LEVEL ...   what weft itself says\n",
             ended.status);
}

/// Whether ranks can use the slim libfabric. If not, says why: they start later then.
bool slim_serves(const std::filesystem::path& slim, const std::filesystem::path& folder,
                 const std::string& provider_path) {
  try {
    check_provider_by(slim, folder, provider_path);
    return true;
  } catch (const std::exception& e) {
    fmt::print(stderr, "weft-mpirun: {}. Ranks load the system's libfabric instead\n", e.what());
    return false;
  }
}

int start(const options& chosen, const weft::runtime::inherited_state& inherited) {
  surroundings here;
  here.self = std::filesystem::read_symlink("/proc/self/exe").string();
  here.mpirun = find_mpirun(chosen.mpirun);
  here.variables = variables();
  here.cores = cores;  // it takes as long as everything else together
  here.root = ::geteuid() == 0;
  if (!chosen.plain) {
    version_question version(here.mpirun);
    weft::options::from_environment();  // reports invalid values now, and once
    const char* set = std::getenv("FI_PROVIDER_PATH");
    const std::string_view present = set == nullptr ? "" : set;
    const auto folder = find_provider(chosen.provider.empty()
                                          ? provider_folders(here.self, present)
                                          : std::vector<std::filesystem::path>{chosen.provider});
    here.provider_path = in_front(folder.string(), present);
    const auto slim = chosen.system_libfabric ? std::filesystem::path() : slim_libfabric_of(folder);
    if (slim.empty() || !slim_serves(slim, folder, here.provider_path)) {
      check_provider(folder, here.provider_path);
    } else {
      const char* const libraries = std::getenv("LD_LIBRARY_PATH");
      here.library_path = in_front(slim.string(), libraries == nullptr ? "" : libraries);
    }
    const chosen_series release = series_for(version.answer(), here.mpirun);
    here.open_mpi = release.settings;
    if (here.open_mpi == series::v4_1) here.before_mpi = library_before_open_mpi_4(folder).string();
    if (chosen.collectives == "weft")
      here.before_mpi = in_front(library_of_collectives(folder).string(), here.before_mpi);
    const char* const preloaded = std::getenv("LD_PRELOAD");
    here.preloaded = preloaded == nullptr ? "" : preloaded;
    if (!release.remark.empty() && !chosen.quiet)
      fmt::print(stderr, "weft-mpirun: {}\n", release.remark);
  }
  auto command = build_command(chosen, here);
  const auto of_mpirun = variables_of_mpirun(chosen, here);
  if (chosen.print) {
    if (!of_mpirun.empty()) {
      command.insert(command.begin(), of_mpirun.begin(), of_mpirun.end());
      command.insert(command.begin(), "env");
    }
    fmt::print("{}\n", shell_line(command));
    return 0;
  }
  for (const std::string& one : of_mpirun) {
    const std::size_t end = one.find('=');
    ::setenv(one.substr(0, end).c_str(), one.substr(end + 1).c_str(), 1);
  }
  if (chosen.quiet || chosen.plain) return become(command, inherited);
  const outcome ended = watch(command, inherited);
  if (!ended.announced) explain(ended);
  return ended.status;
}

}  // namespace

int main(int argc, char** argv) {
  const weft::runtime::inherited_state inherited;
  if (argc == 2 && std::string_view(argv[1]) == "--verify-rank") return verify_rank();
  options chosen;
  int status = 0;
  if (!parse(argc, argv, chosen, status)) return status;
  try {
    return start(chosen, inherited);
  } catch (const std::exception& e) {
    fmt::print(stderr, "weft-mpirun: {}\n", e.what());
    return 1;
  }
}
