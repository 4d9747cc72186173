// SPDX-License-Identifier: Apache-2.0
#include "trace_merge.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "traces/merged.hpp"
#include "traces/part.hpp"

namespace weft::run {

namespace {

namespace fs = std::filesystem;

/// The parts of a rank: of its context, and of further lanes.
std::vector<fs::path> parts_of(const fs::path& file, std::uint32_t rank) {
  const std::string extension = file.extension().string();
  const auto with = [&](const std::string& between) {
    return fs::path(file).replace_extension(fmt::format(".{}{}{}", rank, between, extension));
  };
  std::vector<fs::path> all{with("")};
  for (unsigned lane = 1; fs::exists(with(fmt::format(".lane{}", lane))); ++lane)
    all.push_back(with(fmt::format(".lane{}", lane)));
  return all;
}

void discard(const fs::path& file) {
  std::error_code missing;
  fs::remove(file, missing);
}

}  // namespace

trace_merge::trace_merge(const std::string& file, std::uint32_t ranks) : ranks_(ranks) {
  if (file.empty()) return;
  file_ = fs::absolute(file).string();
  if (!std::ofstream(file_))
    throw std::system_error(errno, std::system_category(), "the trace " + file_);
  for (std::uint32_t rank = 0; rank != ranks_; ++rank)
    for (const fs::path& part : parts_of(file_, rank)) discard(part);
}

std::string trace_merge::merge() {
  if (file_.empty()) return {};
  std::string said;
  std::vector<traces::part> all;
  for (std::uint32_t rank = 0; rank != ranks_; ++rank) {
    bool any = false;
    for (const fs::path& file : parts_of(file_, rank)) {
      if (auto one = traces::read_part(file, rank)) {
        any = any || !one->events.empty();
        all.push_back(*std::move(one));
      }
      discard(file);
    }
    if (!any)
      said += fmt::format(
          "weft-run: rank {} left no trace: it has made no weft context, or did not come to its "
          "end\n",
          rank);
  }
  try {
    traces::write_merged(file_, all);  // of one host
  } catch (const std::system_error& e) {
    said += fmt::format("weft-run: {}\n", e.what());
  }
  return said;
}

}  // namespace weft::run
