// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <memory>
#include <string_view>

namespace weft::mpirun {

namespace {

constexpr const char* description =
    "Starts an MPI program under Debian's Open MPI, with its messages on weft.\n"
    "The program needs no change and is not linked with weft.";

constexpr const char* details =
    "What follows the options above goes to mpirun as it is: its own options, the program, the\n"
    "program's arguments. WEFT_* variables reach all ranks, also on other hosts.\n"
    "\n"
    "Rank 0 says on stderr that it runs on weft. If no rank did, weft-mpirun says so at the end,\n"
    "with what to try. The exit status is mpirun's; 1 if weft cannot be used, 2 for a wrong "
    "command\n"
    "line, 126 or 127 if mpirun could not be started.\n"
    "\n"
    "Examples:\n"
    "  weft-mpirun -n 4 ./program input.dat\n"
    "  weft-mpirun --default -n 4 ./program input.dat\n"
    "  weft-mpirun --verify --host one:2,two:2\n";

struct formatter final : CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override {
    return "Usage: weft-mpirun [options] -n N [mpirun's options] program [arguments...]\n";
  }
};

/// The number of weft-mpirun's own arguments: up to the first word that is no option of `app`.
/// mpirun's options look similar, so CLI11 must not see them ("-np" is no "-n", "-host" no "-h").
std::size_t count_own(const CLI::App& app, const std::vector<std::string>& all) {
  std::size_t at = 0;
  while (at < all.size()) {
    const std::string_view word = all[at];
    const std::size_t equals = word.find('=');
    const CLI::Option* known = app.get_option_no_throw(std::string(word.substr(0, equals)));
    if (!word.starts_with('-') || known == nullptr) break;
    const bool next_is_its_value = known->get_items_expected() > 0 && equals == word.npos;
    at += next_is_its_value ? 2 : 1;
  }
  return std::min(at, all.size());
}

}  // namespace

bool parse(int argc, char** argv, options& into, int& exit_status) {
  CLI::App app{description, "weft-mpirun"};
  app.footer(details);
  app.formatter(std::make_shared<formatter>());
  app.set_version_flag("--version", "weft " WEFT_VERSION);
  app.add_option("--mpirun", into.mpirun,
                 "Open MPI's launcher, instead of mpirun.openmpi or mpirun on PATH");
  app.add_option("--provider", into.provider,
                 "The folder of libweft-fi.so, instead of the one that belongs to weft-mpirun");
  app.add_flag(
      "--system-libfabric", into.system_libfabric,
      "Ranks load the system's libfabric with all its providers, instead of weft's slim one: "
      "for programs that call libfabric themselves. A job starts about a second later");
  app.add_flag(
      "--one-sided", into.one_sided,
      "Programs with windows (MPI_Put, MPI_Get): these calls reach the memory of the other "
      "ranks by weft, without help of those ranks");
  app.add_option("--collectives", into.collectives,
                 "Barriers, broadcasts and reductions of ranks on one host: 'weft', by flags in "
                 "shared memory, or 'mpi', as the MPI has them")
      ->check(CLI::IsMember({"weft", "mpi"}))
      ->capture_default_str();
  app.add_flag("--print", into.print, "Show the command instead of running it");
  app.add_flag("--default", into.plain, "Run the same on Open MPI's own transports, to compare");
  auto* verify = app.add_flag("--verify", into.verify,
                              "Run a small check on two ranks (or as many as -n says) instead of a "
                              "program; only mpirun's options follow");
  auto* quiet = app.add_flag("--quiet", into.quiet,
                             "Say nothing of weft; become mpirun instead of watching it");
  quiet->excludes(verify);

  std::vector<std::string> all(argv + 1, argv + argc);
  const std::size_t own = count_own(app, all);
  into.rest.assign(all.begin() + static_cast<std::ptrdiff_t>(own), all.end());
  all.resize(own);
  try {
    std::reverse(all.begin(), all.end());  // the order that CLI11 expects
    app.parse(all);
    if (into.rest.empty() && !into.verify) throw CLI::RequiredError("program");
  } catch (const CLI::ParseError& e) {
    exit_status = app.exit(e) == 0 ? 0 : 2;
    return false;
  }
  return true;
}

}  // namespace weft::mpirun
