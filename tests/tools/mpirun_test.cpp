// SPDX-License-Identifier: Apache-2.0
// How weft-mpirun interprets its command line, and recognises that a job runs on weft.

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/descriptors/inherited_state.hpp"
#include "support/catch.hpp"
#include "weft-mpirun/command.hpp"
#include "weft-mpirun/launcher.hpp"
#include "weft-mpirun/options.hpp"
#include "weft-mpirun/provider.hpp"
#include "weft-mpirun/watch.hpp"

using namespace weft::mpirun;

namespace {

options parsed(std::vector<std::string> words) {
  words.insert(words.begin(), "weft-mpirun");
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  options chosen;
  int status = 0;
  REQUIRE(parse(static_cast<int>(argv.size()), argv.data(), chosen, status));
  return chosen;
}

surroundings here() {
  surroundings all;
  all.mpirun = "/usr/bin/mpirun.openmpi";
  all.provider_path = "/opt/weft/lib";
  all.cores = [] { return 2U; };
  all.self = "/opt/weft/bin/weft-mpirun";
  return all;
}

bool has(const std::vector<std::string>& all, const std::vector<std::string>& part) {
  return std::search(all.begin(), all.end(), part.begin(), part.end()) != all.end();
}

std::vector<std::string> command(const std::vector<std::string>& words) {
  return build_command(parsed(words), here());
}

}  // namespace

TEST_CASE("options of our own come first, all others belong to mpirun") {
  const options all =
      parsed({"--quiet", "--mpirun", "/x/mpirun", "-np", "4", "-host", "a", "./p", "--print"});
  CHECK(all.quiet);
  CHECK(all.mpirun == "/x/mpirun");
  CHECK_FALSE(all.print);
  CHECK(all.rest == std::vector<std::string>{"-np", "4", "-host", "a", "./p", "--print"});
  CHECK(parsed({"--mpirun=/y", "./p"}).mpirun == "/y");
  CHECK(parsed({"--default", "p"}).rest == std::vector<std::string>{"p"});
}

TEST_CASE("weft is selected in front of what mpirun was given") {
  const auto all = command({"-n", "2", "./program", "an argument"});
  CHECK(all.front() == "/usr/bin/mpirun.openmpi");
  CHECK(has(all, {"--mca", "pml", "cm", "--mca", "mtl", "ofi", "--mca", "mtl_ofi_provider_include",
                  "weft", "--mca", "osc", "sm,pt2pt", "-x", "FI_PROVIDER_PATH=/opt/weft/lib", "-x",
                  "WEFT_OFI_ANNOUNCE=1"}));
  CHECK(std::vector<std::string>(all.end() - 4, all.end()) ==
        std::vector<std::string>{"-n", "2", "./program", "an argument"});
  CHECK_FALSE(has(all, {"--oversubscribe"}));
  CHECK_FALSE(has(all, {"--allow-run-as-root"}));
  CHECK_FALSE(has(command({"--quiet", "p"}), {"WEFT_OFI_ANNOUNCE=1"}));
}

TEST_CASE("the slim libfabric comes first among the libraries of all ranks") {
  CHECK_FALSE(has(command({"-n", "2", "p"}), {"LD_LIBRARY_PATH="}));
  surroundings all = here();
  all.library_path = in_front("/opt/weft/lib/slim", "/mine");
  CHECK(has(build_command(parsed({"-n", "2", "p"}), all),
            {"-x", "LD_LIBRARY_PATH=/opt/weft/lib/slim:/mine"}));
  const auto own = build_command(parsed({"-x", "LD_LIBRARY_PATH=/own", "-n", "2", "p"}), all);
  CHECK(has(own, {"-x", "LD_LIBRARY_PATH=/own"}));
  CHECK_FALSE(has(own, {"LD_LIBRARY_PATH=/opt/weft/lib/slim:/mine"}));
  CHECK_FALSE(has(build_command(parsed({"--default", "p"}), all), {"-x"}));
  CHECK(parsed({"--system-libfabric", "p"}).system_libfabric);
  // Open MPI 5 gives ranks that ranks start what mpirun itself has.
  CHECK(variables_of_mpirun(parsed({"-n", "2", "p"}), all).empty());
  all.open_mpi = series::v5_0;
  CHECK(variables_of_mpirun(parsed({"-n", "2", "p"}), all) ==
        std::vector<std::string>{"FI_PROVIDER_PATH=/opt/weft/lib",
                                 "LD_LIBRARY_PATH=/opt/weft/lib/slim:/mine",
                                 "WEFT_OFI_ANNOUNCE=1"});
  CHECK(variables_of_mpirun(parsed({"--default", "p"}), all).empty());
}

TEST_CASE("a library comes before Open MPI 4, behind the user's own") {
  CHECK_FALSE(has(command({"-n", "2", "p"}), {"LD_PRELOAD="}));
  surroundings all = here();
  all.before_mpi = "/opt/weft/lib/ours.so";
  CHECK(has(build_command(parsed({"p"}), all), {"-x", "LD_PRELOAD=/opt/weft/lib/ours.so"}));
  CHECK_FALSE(has(build_command(parsed({"--default", "p"}), all), {"-x"}));
  all.preloaded = "/tool.so /other.so";
  const std::string both = "LD_PRELOAD=/tool.so /other.so:/opt/weft/lib/ours.so";
  CHECK(has(build_command(parsed({"p"}), all), {"-x", both}));
  const auto passed_on = build_command(parsed({"-x", "LD_PRELOAD", "p"}), all);
  CHECK(has(passed_on, {"-x", both, "p"}));
  CHECK(std::count(passed_on.begin(), passed_on.end(), both) == 1);
  const auto own = build_command(parsed({"-x", "LD_PRELOAD=/mine.so", "p"}), all);
  CHECK(has(own, {"-x", "LD_PRELOAD=/mine.so:/opt/weft/lib/ours.so", "p"}));
  CHECK(std::count(own.begin(), own.end(), both) == 0);
}

TEST_CASE("each of several programs gets the variables") {
  surroundings all = here();
  all.variables = {"WEFT_SPIN"};
  const auto two = build_command(parsed({"--quiet", "-n", "1", "p", ":", "-n", "2", "q"}), all);
  CHECK(has(two, {"-x", "FI_PROVIDER_PATH=/opt/weft/lib", "-x", "WEFT_SPIN", "-n", "1", "p", ":",
                  "-x", "FI_PROVIDER_PATH=/opt/weft/lib", "-x", "WEFT_SPIN", "-n", "2", "q"}));
}

TEST_CASE("the way of one-sided calls is the user's, if he says it") {
  CHECK_FALSE(has(command({"--mca", "osc", "rdma", "-n", "2", "p"}), {"sm,pt2pt"}));
  surroundings all = here();
  all.variables = {"OMPI_MCA_osc"};
  CHECK_FALSE(has(build_command(parsed({"-n", "2", "p"}), all), {"sm,pt2pt"}));
}

TEST_CASE("one-sided calls go the ways that the version of Open MPI has") {
  surroundings five = here();
  five.open_mpi = series::v5_0;
  const auto usual = build_command(parsed({"-n", "2", "p"}), five);
  CHECK(has(usual, {"--mca", "pml", "cm", "--mca", "mtl", "ofi"}));
  CHECK(has(usual, {"--mca", "osc", "^pt2pt"}));
  const auto by_weft = build_command(parsed({"--one-sided", "-n", "2", "p"}), five);
  CHECK(has(by_weft, {"--mca", "pml", "ob1", "--mca", "btl_ofi_mode", "2"}));
  CHECK(has(by_weft, {"--mca", "btl", "self,ofi", "--mca", "btl_ofi_provider_include", "weft"}));
  CHECK(has(by_weft, {"--mca", "osc", "sm,rdma"}));
  CHECK_FALSE(has(by_weft, {"pml", "cm"}));
  const auto four = command({"--one-sided", "-n", "2", "p"});
  CHECK(has(four, {"--mca", "pml", "cm"}));
  CHECK(has(four, {"--mca", "osc", "sm,rdma", "--mca", "osc_rdma_acc_use_amo", "0"}));
  CHECK_FALSE(has(four, {"btl_ofi_mode"}));
}

TEST_CASE("a parameter that the user gives is given once, and a profile does not turn weft off") {
  const auto own = command({"-mca", "pml", "ob1", "-n", "2", "p"});
  CHECK(std::count(own.begin(), own.end(), "pml") == 1);
  surroundings all = here();
  all.variables = {"OMPI_MCA_pml", "OMPI_MCA_btl"};
  const auto profile = build_command(parsed({"--one-sided", "-n", "2", "p"}), all);
  CHECK(has(profile, {"--mca", "pml", "cm"}));
  CHECK_FALSE(has(profile, {"--mca", "btl"}));
}

TEST_CASE("the version of Open MPI is known by what its mpirun says") {
  const auto settings = [](const char* said) { return series_for(said, "mpirun").settings; };
  CHECK(settings("mpirun (Open MPI) 4.1.4\n\nReport bugs") == series::v4_1);
  CHECK(settings("mpirun.openmpi (OpenRTE) 4.1.4\n") == series::v4_1);
  CHECK(settings("mpirun.openmpi (Open MPI) 5.0.7\n") == series::v5_0);
  CHECK(series_for("mpirun (Open MPI) 5.0.7", "mpirun").remark.empty());
  const auto newer = series_for("mpirun (Open MPI) 6.1.0a1", "mpirun");
  CHECK(newer.settings == series::v5_0);
  CHECK_THAT(newer.remark, weft::tests::contains("this is 6.1"));
  const auto older = series_for("mpirun (Open MPI) 4.0.3", "mpirun");
  CHECK(older.settings == series::v4_1);
  CHECK_FALSE(older.remark.empty());
  CHECK_THROWS_WITH(series_for("HYDRA build details:\n    Version: 4.2.1", "/x/mpirun"),
                    weft::tests::contains("/x/mpirun is not Open MPI's launcher") &&
                        weft::tests::contains("HYDRA build details:"));
  CHECK_THROWS(series_for("mpirun (Open MPI) five", "mpirun"));
  CHECK_THROWS(series_for("", "mpirun"));
  CHECK_THROWS(series_for("5.0.7", "mpirun"));
}

TEST_CASE("the launcher says its version while something else is done") {
  namespace fs = std::filesystem;
  const fs::path program = fs::temp_directory_path() / ("a mpirun " + std::to_string(::getpid()));
  std::ofstream(program) << "#!/bin/sh\necho \"$1 (Open MPI) 5.0.7\"\n";
  fs::permissions(program, fs::perms::owner_all);
  CHECK(version_question(program.string()).answer() == "--version (Open MPI) 5.0.7\n");
  fs::remove(program);
}

TEST_CASE("without weft there is nothing of it on the command line") {
  CHECK(command({"--default", "-n", "2", "p"}) ==
        std::vector<std::string>{"/usr/bin/mpirun.openmpi", "-n", "2", "p"});
}

TEST_CASE("more ranks than cores are allowed, unless hosts are named") {
  CHECK(has(command({"-n", "3", "p"}), {"--oversubscribe"}));
  CHECK(has(command({"--np", "3", "p"}), {"--oversubscribe"}));
  CHECK_FALSE(has(command({"-n", "3", "--host", "a:3", "p"}), {"--oversubscribe"}));
  CHECK_FALSE(has(command({"-n", "3", "--nooversubscribe", "p"}), {"--oversubscribe"}));
  const auto once = command({"-n", "3", "--oversubscribe", "p"});
  CHECK(std::count(once.begin(), once.end(), "--oversubscribe") == 1);
  CHECK(ranks_asked({"-np", "12"}) == 12u);
  CHECK(ranks_asked({"-n", "many"}) == std::nullopt);
  CHECK(ranks_asked({"-n"}) == std::nullopt);
}

TEST_CASE("root is allowed, and variables of weft reach all ranks") {
  surroundings all = here();
  all.root = true;
  all.variables = {"WEFT_SPIN", "HOME", "WEFT_RANK", "WEFT_JOB_KEY", "WEFT_JOB", "XWEFT_"};
  const auto words = build_command(parsed({"-n", "2", "p"}), all);
  CHECK(has(words, {"--allow-run-as-root"}));
  CHECK(has(words, {"-x", "WEFT_SPIN", "-x", "WEFT_JOB_KEY"}));
  for (const char* other : {"HOME", "WEFT_RANK", "WEFT_JOB", "XWEFT_"})
    CHECK_FALSE(has(words, {other}));
}

TEST_CASE("the check runs on two ranks, or on as many as one wants") {
  const auto two = command({"--verify"});
  CHECK(std::vector<std::string>(two.end() - 4, two.end()) ==
        std::vector<std::string>{"-n", "2", "/opt/weft/bin/weft-mpirun", "--verify-rank"});
  const auto eight = command({"--verify", "-n", "8"});
  CHECK(std::vector<std::string>(eight.end() - 4, eight.end()) ==
        std::vector<std::string>{"-n", "8", "/opt/weft/bin/weft-mpirun", "--verify-rank"});
}

TEST_CASE("what is shown can be typed") {
  CHECK(shell_line({"mpirun", "-n", "2", "a b", "it's", "", "$HOME"}) ==
        "mpirun -n 2 'a b' 'it'\\''s' '' '$HOME'");
}

TEST_CASE("a user's other providers stay") {
  CHECK(in_front("/w", "") == "/w");
  CHECK(in_front("/w", "/a:/b") == "/w:/a:/b");
}

TEST_CASE("the provider is looked for in the own tree, then where the user says") {
  namespace fs = std::filesystem;
  const fs::path tree = fs::temp_directory_path() / ("weft-mpirun-" + std::to_string(::getpid()));
  fs::create_directories(tree / "lib");
  fs::create_directories(tree / "other");
  const auto folders =
      provider_folders(tree / "bin" / "weft-mpirun", "@" + (tree / "other").string());
  CHECK_THROWS_WITH(find_provider(folders), weft::tests::contains("--provider") &&
                                                weft::tests::contains((tree / "other").string()));
  std::ofstream(tree / "other" / provider_file) << "x";
  CHECK(find_provider(folders) == tree / "other");
  std::ofstream(tree / "lib" / provider_file) << "x";
  CHECK(find_provider(folders) == tree / "lib");
  CHECK_THROWS_WITH(library_before_open_mpi_4(tree / "lib"),
                    weft::tests::contains("install weft again"));
  CHECK_THROWS_WITH(library_of_collectives(tree / "lib"),
                    weft::tests::contains("--collectives=mpi"));
  CHECK_THROWS_WITH(check_provider(tree / "lib", (tree / "lib").string()),
                    weft::tests::contains("cannot be loaded"));
  fs::remove_all(tree);
}

TEST_CASE("the announcement is found however it comes") {
  const std::string said = "other words\nweft: MPI runs on weft (shm)\n";
  for (const std::size_t piece : {1u, 3u, 7u, 100u}) {
    finder f(announcement);
    for (std::size_t at = 0; at < said.size(); at += piece)
      f.look_at(std::string_view(said).substr(at, piece));
    CHECK(f.found());
  }
  finder f(announcement);
  f.look_at("weft: MPI runs");
  f.look_at("on weft");
  CHECK_FALSE(f.found());
}

TEST_CASE("the end of what is watched is the end of what it ran") {
  ::signal(SIGCHLD, SIG_IGN);  // as some parents leave it
  const weft::runtime::inherited_state inherited;
  const auto watch = [&](const std::vector<std::string>& command) {
    return weft::mpirun::watch(command, inherited);
  };
  CHECK(watch({"/bin/sh", "-c", "exit 3"}).status == 3);
  CHECK(watch({"/bin/sh", "-c", "kill -9 $$"}).status == 128 + 9);
  CHECK(watch({"/weft/no/such/program"}).status == 127);
  const outcome told = watch({"/bin/sh", "-c", "echo 'weft: MPI runs on weft' >&2"});
  CHECK(told.status == 0);
  CHECK(told.announced);
}
