// SPDX-License-Identifier: Apache-2.0
#include "former_output.hpp"

#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

namespace weft::run {

namespace {

namespace fs = std::filesystem;

/// The rank in a name that weft-run gives; nothing: it is another one.
std::optional<std::uint32_t> rank_in(std::string_view name) {
  constexpr std::string_view head = "rank.";
  if (!name.starts_with(head) || !(name.ends_with(".out") || name.ends_with(".err"))) return {};
  const std::string_view digits = name.substr(head.size(), name.size() - head.size() - 4);
  std::uint32_t rank = 0;
  const char* const end = digits.data() + digits.size();
  if (digits.empty() || std::from_chars(digits.data(), end, rank).ptr != end ||
      std::to_string(rank) != digits)
    return {};
  return rank;
}

}  // namespace

void remove_former_output(const std::string& folder, std::uint32_t ranks) {
  std::error_code none;
  if (folder.empty() || !fs::is_directory(folder, none)) return;
  std::vector<fs::path> former;
  for (const fs::directory_entry& one : fs::directory_iterator(folder)) {
    const auto rank = rank_in(one.path().filename().string());
    if (rank && *rank >= ranks && fs::is_regular_file(one.symlink_status()))
      former.push_back(one.path());
  }
  for (const fs::path& file : former) fs::remove(file);
}

}  // namespace weft::run
