// SPDX-License-Identifier: Apache-2.0
#include "compare/nas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <optional>
#include <stdexcept>
#include <vector>

#include "support/subprocess.hpp"

namespace weft::bench {
namespace {

namespace fs = std::filesystem;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r";
  const auto first = text.find_first_not_of(blanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// The value in the last line "key = value".
std::string_view value_of(std::string_view output, std::string_view key) {
  std::optional<std::string_view> found;
  while (!output.empty()) {
    const auto end = std::min(output.find('\n'), output.size());
    const auto line = output.substr(0, end);
    const auto equals = line.find('=');
    if (equals != line.npos && trimmed(line.substr(0, equals)) == key)
      found = trimmed(line.substr(equals + 1));
    output.remove_prefix(std::min(end + 1, output.size()));
  }
  if (!found)
    throw std::runtime_error(fmt::format(
        "it printed no report of the NAS Parallel Benchmarks: \"{} =\" is missing", key));
  return *found;
}

template <typename Number>
Number number_of(std::string_view output, std::string_view key) {
  const auto text = value_of(output, key);
  Number number{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error(
        fmt::format("its report says \"{} = {}\", which is no number "
                    "(Fortran prints *** where one is too large)",
                    key, text));
  return number;
}

bool is_tree(const fs::path& folder) {
  return fs::is_directory(folder / "bin") ||
         (fs::exists(folder / "Makefile") && fs::is_directory(folder / "config"));
}

/// A compiler of Open MPI, where Debian has several MPIs side by side.
std::string compiler(const std::string& name) {
  for (const auto& candidate : {name + ".openmpi", name})
    if (find_program(candidate)) return candidate;
  throw std::runtime_error(
      fmt::format("{} was not found; apt-get install libopenmpi-dev gfortran make", name));
}

std::optional<fs::path> built_program(const fs::path& tree, const std::string& kernel,
                                      const std::string& problem_class, int ranks) {
  for (const auto& last : {std::string("x"), fmt::format("{}", ranks)}) {
    const auto path = tree / "bin" / fmt::format("{}.{}.{}", kernel, problem_class, last);
    if (find_program(path.string())) return path;
  }
  return std::nullopt;
}

void build(const fs::path& tree, const std::string& kernel, const std::string& problem_class,
           int ranks) {
  if (!fs::exists(tree / "config" / "make.def"))
    throw std::runtime_error(fmt::format(
        "{0} has no program {1} of class {2}, and cannot build it without config/make.def; copy "
        "config/make.def.template there, or build it by hand: make {1} CLASS={2}",
        tree.string(), kernel, problem_class));
  if (!find_program("make") || !find_program("gfortran"))
    throw std::runtime_error("make or gfortran was not found; apt-get install make gfortran");
  fs::create_directories(tree / "bin");
  const std::string fortran = compiler("mpif90");
  const command make{{"make", "-C", tree.string(), kernel, "CLASS=" + problem_class,
                      fmt::format("NPROCS={}", ranks), "MPIFC=" + fortran, "MPIF77=" + fortran,
                      "MPICC=" + compiler("mpicc")},
                     {}};
  const auto result = run_command(make, std::chrono::minutes(10));
  if (result.ok()) return;
  // What gfortran 10 and later refuse in NPB up to 3.4.
  const bool old_fortran = result.err.find("mismatch") != std::string::npos ||
                           result.err.find("boz") != std::string::npos;
  throw std::runtime_error(fmt::format(
      "{}: {}{}", make.text(), result.reason(),
      old_fortran ? "\nadd -fallow-argument-mismatch -fallow-invalid-boz to FFLAGS in " +
                        (tree / "config" / "make.def").string()
                  : ""));
}

}  // namespace

nas_report parse_nas_report(std::string_view output) {
  // The older releases count processes in another line.
  const bool named_total = output.find("Total processes") != output.npos;
  return {.mop_s = number_of<double>(output, "Mop/s total"),
          .seconds = number_of<double>(output, "Time in seconds"),
          .processes = number_of<int>(output, named_total ? "Total processes" : "Total procs"),
          .verified = value_of(output, "Verification") == "SUCCESSFUL"};
}

fs::path find_nas_tree(const fs::path& given) {
  if (is_tree(given)) return fs::canonical(given);
  std::vector<fs::path> below;
  if (fs::is_directory(given))
    for (const auto& entry : fs::directory_iterator(given)) {
      const std::string name = entry.path().filename().string();
      if (name.starts_with("NPB3") && name.ends_with("-MPI") && is_tree(entry.path()))
        below.push_back(entry.path());
    }
  if (below.empty())
    throw std::invalid_argument(fmt::format(
        "--nas {}: there is no tree of the NAS Parallel Benchmarks for MPI, neither bin/ nor "
        "Makefile and config/, and no folder NPB3.x-MPI; see nas.nasa.gov/software/npb.html",
        given.string()));
  return fs::canonical(*std::max_element(below.begin(), below.end()));
}

fs::path nas_program(const fs::path& tree, const std::string& kernel,
                     const std::string& problem_class, int ranks) {
  if (auto program = built_program(tree, kernel, problem_class, ranks)) return *program;
  build(tree, kernel, problem_class, ranks);
  if (auto program = built_program(tree, kernel, problem_class, ranks)) return *program;
  throw std::runtime_error(
      fmt::format("make left no {}.{}.x in {}; does BINDIR in config/make.def name another folder?",
                  kernel, problem_class, (tree / "bin").string()));
}

}  // namespace weft::bench
