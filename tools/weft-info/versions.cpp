// SPDX-License-Identifier: Apache-2.0
#include "versions.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/utsname.h>

#include <cstdio>
#include <string_view>

#include <weft/build.hpp>

#include "machine.hpp"

namespace weft::info {

using nlohmann::ordered_json;

namespace {

/// What the parts of this build load on demand: wireup/job/pmix_library.cpp, and MPI for
/// libweft-fi.so. Never closed: a library may keep a thread of its own.
void load_the_rest() {
  for (const build_part& part : build_parts()) {
    if (!part.built_in) continue;
    if (std::string_view(part.name) == "pmix") ::dlopen("libpmix.so.2", RTLD_LAZY | RTLD_NODELETE);
    if (std::string_view(part.name) == "ofi") ::dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NODELETE);
  }
}

std::string or_dash(const std::string& version) { return version.empty() ? "-" : version; }

}  // namespace

std::string build_text() {
  std::string with, without;
  for (const build_part& part : build_parts())
    (part.built_in ? with : without) += fmt::format(" {}", part.name);
  std::string text = fmt::format("weft {}\nbuilt with:{}", version(), with);
  return without.empty() ? text : text + "\nbuilt without:" + without;
}

ordered_json parts() {
  ordered_json all = ordered_json::array();
  for (const build_part& part : build_parts())
    all.push_back({{"name", part.name},
                   {"built_in", part.built_in},
                   {"option", part.option},
                   {"meaning", part.meaning}});
  return all;
}

ordered_json versions() {
  load_the_rest();
  ordered_json all{{"version", version()}, {"parts", parts()}, {"compiler", compiler()}};
  all["libraries"] = ordered_json::array();
  all["warnings"] = ordered_json::array();
  for (const library_version& one : library_versions()) {
    all["libraries"].push_back(
        {{"name", one.name}, {"built_with", one.built_with}, {"loaded", one.loaded}});
    if (const std::string why = mixture(one); !why.empty()) all["warnings"].push_back(why);
  }
  utsname name{};
  ::uname(&name);
  all["kernel"] = {{"release", name.release}, {"machine", name.machine}};
  all["kernel"]["missing"] = ordered_json::array();
  for (const finding& one : examine_kernel()) {
    if (one.hint.empty()) continue;
    if (one.name == "kernel")
      all["warnings"].push_back(fmt::format("kernel {}: {}", one.value, one.hint));
    else
      all["kernel"]["missing"].push_back({{"name", one.name}, {"hint", one.hint}});
  }
  return all;
}

void show_versions(const ordered_json& all) {
  std::string text = fmt::format("{}\nbuilt by: {}\n\n{:<10}  {:<10}  here\n", build_text(),
                                 all["compiler"].get<std::string>(), "", "built with");
  for (const auto& one : all["libraries"])
    text += fmt::format("{:<10}  {:<10}  {}\n", one["name"].get<std::string>(),
                        one["built_with"].get<std::string>(),
                        or_dash(one["loaded"].get<std::string>()));
  const auto& kernel = all["kernel"];
  text += fmt::format("{:<10}  {:<10}  {} ({})\n", "kernel", "",
                      kernel["release"].get<std::string>(), kernel["machine"].get<std::string>());
  for (const auto& one : kernel["missing"])
    text += fmt::format("  without {}: {}\n", one["name"].get<std::string>(),
                        one["hint"].get<std::string>());
  for (const auto& warning : all["warnings"])
    text += fmt::format("\nwarning: {}\n", warning.get<std::string>());
  std::fputs(text.c_str(), stdout);
}

}  // namespace weft::info
