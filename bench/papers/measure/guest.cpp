// SPDX-License-Identifier: Apache-2.0
#include "measure/guest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <stdexcept>

#include "measure/run.hpp"
#include "support/subprocess.hpp"

namespace weft::bench::page {
namespace {

json as_json(const job& what) {
  return {{"name", what.name},
          {"shown", what.shown},
          {"argv", what.what.argv},
          {"environment", what.what.environment},
          {"limit", what.limit.count()}};
}

job from_json(const json& from) {
  job result;
  result.name = from.at("name").get<std::string>();
  result.shown = from.at("shown").get<std::string>();
  result.what.argv = from.at("argv").get<std::vector<std::string>>();
  result.what.environment = from.at("environment").get<std::map<std::string, std::string>>();
  result.limit = std::chrono::seconds(from.at("limit").get<long>());
  return result;
}

}  // namespace

bool has_rdma_device() {
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/infiniband", none))
    if (entry.path().filename().string().starts_with("uverbs")) return true;
  return false;
}

std::string run_guest(const std::vector<job>& jobs, const page_options& how,
                      const std::filesystem::path& raw) {
  if (how.guest.empty())
    return "it needs an RDMA device; ./dev report runs it in a guest that has one (or: --guest "
           "tests/rdma_guest/guest.sh)";
  const auto kept = std::filesystem::canonical(raw);
  json list = json::array();
  const std::chrono::milliseconds grace(std::llround(how.guest_seconds * 1000));
  auto limit = std::chrono::ceil<std::chrono::seconds>(grace);
  std::chrono::milliseconds silence{0};
  for (const job& one : jobs) {
    list.push_back(as_json(one));
    limit += one.limit;
    silence = std::max<std::chrono::milliseconds>(silence, one.limit);
    for (const char* end : {".jsonl", ".run.json"})
      std::filesystem::remove(kept / (one.name + end));
  }
  const auto file = kept / "guest.json";
  write_file(file, list.dump(1) + '\n');
  command what;
  what.argv = {"bash",
               how.guest.string(),
               "--seconds",
               fmt::format("{}", limit.count()),
               "--keep",
               kept.string(),
               (own_folder() / "weft-report").string(),
               "--guest-commands",
               file.string()};
  // It prints the name of each command that begins.
  silence += grace;
  // The script ends the guest itself; this limit is for the script.
  const command_result ended = run_command(what, limit + std::chrono::seconds(30), silence);
  if (ended.timed_out)
    return fmt::format("the guest did not answer within {} s",
                       static_cast<double>(silence.count()) / 1000);
  if (ended.status == 77) return "there is no RDMA device, and no guest with one:\n" + ended.err;
  return ended.reason();
}

void run_in_guest(const std::filesystem::path& file) {
  const auto text = read_file(file);
  if (!text) throw std::runtime_error(fmt::format("cannot read {}", file.string()));
  for (const json& one : json::parse(*text)) {
    const job what = from_json(one);
    fmt::print("{} ...\n", what.name);
    std::fflush(stdout);
    save_record(file.parent_path(), what.name, run_job(what));
  }
}

}  // namespace weft::bench::page
