// SPDX-License-Identifier: Apache-2.0
#include "peers/build.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <future>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "support/subprocess.hpp"

namespace weft::bench {
namespace {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

words split(const std::string& line) {
  std::istringstream in(line);
  words all;
  for (std::string word; in >> word;) all.push_back(word);
  return all;
}

command_result run_or_throw(const command& what, std::chrono::milliseconds limit,
                            const std::string& problem) {
  auto result = run_command(what, limit);
  if (!result.ok())
    throw std::runtime_error(
        fmt::format("{}: {}\n  command: {}", problem, result.reason(), what.text()));
  return result;
}

fs::path sources() {
  const auto own = fs::read_symlink("/proc/self/exe").parent_path();
  const auto shared = own.parent_path() / "share/weft/bench";
  const auto here = [](const fs::path& folder) {
    return fs::exists(folder / "peers/mpi_peer.cpp");
  };
  if (here(shared)) return shared;
  for (auto above = own; above != above.root_path(); above = above.parent_path())
    if (here(above / "bench")) return above / "bench";
  throw std::runtime_error(
      fmt::format("the sources of the MPI program are neither in {} nor in a folder bench above {}",
                  shared.string(), own.string()));
}

words compiler() {
  if (const char* chosen = std::getenv("CXX"); chosen != nullptr && *chosen != '\0')
    return split(chosen);
  for (const char* name : {"c++", "g++", "clang++"})
    if (const auto found = find_program(name)) return {found->string()};
  throw std::runtime_error("no C++ compiler was found; apt-get install g++, or set CXX");
}

/// Where the headers and libraries lie, and which these are: not the flags for C.
words flags_of(const fs::path& wrapper) {
  const auto said = run_or_throw({{wrapper.string(), "-show"}, {}}, std::chrono::seconds(30),
                                 fmt::format("{} does not tell its flags", wrapper.string()));
  words flags;
  for (const auto& word : split(said.out)) {
    const auto is = [&](std::string_view start) { return word.starts_with(start); };
    if (is("-I") || is("-L") || is("-l") || is("-Wl,") || word == "-pthread") flags.push_back(word);
    if (is("-L")) flags.push_back("-Wl,-rpath," + word.substr(2));
  }
  return flags;
}

/// One file for each folder: `from`'s *.cpp whose name begins so.
void collect(std::ofstream& into, const fs::path& from, std::string_view start) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(from))
    if (entry.path().extension() == ".cpp" && entry.path().filename().string().starts_with(start))
      found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  for (const auto& one : found) into << "#include \"" << one.string() << "\"\n";
}

}  // namespace

fs::path build_mpi_peer(const fs::path& wrapper, const fs::path& folder) {
  const auto from = sources();
  const auto support = folder / "support.cpp", peer = folder / "peer.cpp",
             program = folder / "peer";
  {
    std::ofstream one(support), other(peer);
    collect(one, from / "support", "");
    collect(one, from / "output", "");
    collect(other, from / "peers", "mpi_");
    collect(other, from / "peers/kernels", "");
  }
  const auto flags = flags_of(wrapper);
  const auto problem = fmt::format("the MPI program could not be built with {}", wrapper.string());
  const auto run = [&](std::vector<std::string> arguments) {
    command build{compiler(), {}};
    for (auto& word : arguments) build.argv.push_back(std::move(word));
    build.argv.insert(build.argv.end(), flags.begin(), flags.end());
    run_or_throw(build, std::chrono::minutes(5), problem);
  };
  const auto compile = [&](const fs::path& file) {
    run({"-std=c++20", "-O2", "-DNDEBUG", "-DOMPI_SKIP_MPICXX", "-DMPICH_SKIP_MPICXX",
         "-I" + from.string(), "-c", file.string(), "-o", file.string() + ".o"});
  };
  // Both at once: each takes some twenty seconds.
  auto other = std::async(std::launch::async, compile, support);
  compile(peer);
  other.get();
  run({"-o", program.string(), peer.string() + ".o", support.string() + ".o", "-lfmt", "-pthread"});
  return program;
}

}  // namespace weft::bench
