// SPDX-License-Identifier: Apache-2.0
#include "wireup/bootstrap/starter.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <string_view>

#include <weft/error.hpp>

namespace weft::wireup {

namespace {

constexpr std::uint16_t usual_port = 7471;
constexpr std::array all{starter::weft_run, starter::by_hand,  starter::pmix,
                         starter::slurm,    starter::torchrun, starter::kubernetes};

/// A starter is there when all of these are set.
std::vector<const char*> needs_of(starter s) {
  switch (s) {
    case starter::weft_run:
      return {"WEFT_JOB"};
    case starter::by_hand:
      return {"WEFT_RANK", "WEFT_SIZE", "WEFT_ROOT"};
    case starter::pmix:
      return {"PMIX_NAMESPACE"};
    case starter::slurm:  // set in a job step only: the script of a batch job is one process
      return {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_STEP_NODELIST"};
    case starter::torchrun:
      return {"RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"};
    case starter::kubernetes:
      break;
  }
  return {"JOB_COMPLETION_INDEX", "WEFT_SIZE"};
}

/// The first variable that keeps it from being there.
const char* missing(starter s, const surroundings& around) {
  for (const char* name : needs_of(s))
    if (!around.variable(name)) return name;
  return nullptr;
}

[[noreturn]] void wrong(const std::string& what) { throw error(errc::invalid_argument, what); }

std::uint64_t number(const surroundings& s, const char* name, std::uint64_t most) {
  const std::string text = *s.variable(name);
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, fault] = std::from_chars(text.data(), end, value);
  if (fault != std::errc{} || stop != end || value > most)
    wrong(fmt::format("{}='{}' is no number from 0 to {}", name, text, most));
  return value;
}

std::uint16_t port_from(const surroundings& s, const char* name) {
  const auto port = static_cast<std::uint16_t>(number(s, name, 65535));
  if (port == 0) wrong(fmt::format("{}=0 is no port that other ranks could know", name));
  return port;
}

/// WEFT_ROOT: "host", "host:port", "[IPv6]:port".
root_place parse_root(const std::string& text) {
  root_place p{text, usual_port};
  const std::size_t colon = text.rfind(':');
  const bool brackets = text.starts_with('[');
  if (colon != text.npos && (brackets ? text[colon - 1] == ']' : text.find(':') == colon)) {
    p.host = text.substr(0, colon);
    const char* end = text.data() + text.size();
    const auto [stop, fault] = std::from_chars(text.data() + colon + 1, end, p.port);
    if (fault != std::errc{} || stop != end || p.port == 0) p.host.clear();
  }
  if (p.host.starts_with('[') && p.host.ends_with(']'))
    p.host = p.host.substr(1, p.host.size() - 2);
  if (p.host.empty() || p.host.find_first_of("/[] ") != p.host.npos)
    wrong(
        fmt::format("WEFT_ROOT='{}' is not where rank 0 listens; write host:port, such as "
                    "node1:{}, with a port from 1 to 65535",
                    text, usual_port));
  return p;
}

/// Slurm reserves ports for a step where its configuration says so (MpiParams=ports=...). Else the
/// port follows from the numbers of job and step, so that two jobs on one host seldom meet.
std::uint16_t port_of_slurm(const surroundings& s) {
  if (const auto reserved = s.variable("SLURM_STEP_RESV_PORTS")) {
    std::uint16_t first = 0;
    std::from_chars(reserved->data(), reserved->data() + reserved->size(), first);
    if (first != 0) return first;
  }
  constexpr std::uint64_t first = 15000, count = 16000;  // below the ports of outgoing connections
  std::uint64_t mixed = 0;
  for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID"})
    mixed = mixed * 31 + (s.variable(name) ? number(s, name, ~std::uint32_t{0}) : 0);
  return static_cast<std::uint16_t>(first + mixed % count);
}

/// A pod of an Indexed Job is called <job>-<index>, and its headless service <service>...: that of
/// index 0 is where rank 0 is.
root_place root_of_kubernetes(const surroundings& s, peer_id rank) {
  const std::string full = s.full_host_name();
  const std::size_t dot = full.find('.');
  const std::string tail = fmt::format("-{}", rank);
  const std::string name = full.substr(0, dot);
  if (dot == full.npos || !name.ends_with(tail))
    wrong(
        fmt::format("rank 0's address does not follow from this pod's name '{}', which is not "
                    "<job>-{}.<service>...; give the pods a headless service (subdomain: in the "
                    "pod's specification), or set WEFT_ROOT=host:port",
                    full, rank));
  return {name.substr(0, name.size() - tail.size()) + "-0" + full.substr(dot), usual_port};
}

root_place root_from(starter by, peer_id rank, const surroundings& s) {
  if (const auto chosen = s.variable("WEFT_ROOT")) return parse_root(*chosen);
  if (by == starter::slurm)
    return {first_host_of(*s.variable("SLURM_STEP_NODELIST")), port_of_slurm(s)};
  if (by == starter::kubernetes) return root_of_kubernetes(s, rank);
  // torchrun's own store listens at MASTER_PORT.
  const std::uint16_t theirs = port_from(s, "MASTER_PORT");
  return {*s.variable("MASTER_ADDR"),
          static_cast<std::uint16_t>(theirs == 65535 ? 65534 : theirs + 1)};
}

std::string full_name_of_this_host() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  addrinfo wanted{};
  wanted.ai_flags = AI_CANONNAME;
  addrinfo* first = nullptr;
  if (::getaddrinfo(name.data(), nullptr, &wanted, &first) != 0) return name.data();
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list(first, &::freeaddrinfo);
  return first->ai_canonname ? first->ai_canonname : name.data();
}

std::string describe(starter s, const surroundings& around) {
  if (s == starter::weft_run || s == starter::pmix)
    return fmt::format("{} is set", needs_of(s).front());
  try {
    const given_rank r = rank_from(s, around);
    const std::string where = r.size == 1 ? "" : fmt::format(", rank 0 at {}", to_text(r.root));
    std::string by;
    for (const char* name : needs_of(s)) by += (by.empty() ? "" : ", ") + std::string(name);
    if (s != starter::by_hand && around.variable("WEFT_ROOT")) by += ", WEFT_ROOT";
    return fmt::format("rank {} of {}{} ({})", r.rank, r.size, where, by);
  } catch (const error& e) {
    return e.what();
  }
}

}  // namespace

const char* name_of(starter s) noexcept {
  switch (s) {
    case starter::weft_run:
      return "weft-run";
    case starter::by_hand:
      return "by hand";
    case starter::pmix:
      return "PMIx";
    case starter::slurm:
      return "Slurm";
    case starter::torchrun:
      return "torchrun";
    case starter::kubernetes:
      break;
  }
  return "Kubernetes";
}

std::string to_text(const root_place& p) {
  const bool is_v6 = p.host.find(':') != p.host.npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", p.host, is_v6 ? "]" : "", p.port);
}

surroundings surroundings::of_process() {
  return {[](const char* name) -> std::optional<std::string> {
            const char* text = std::getenv(name);
            if (text == nullptr || *text == '\0') return std::nullopt;
            return text;
          },
          &full_name_of_this_host};
}

std::vector<starter> starters_of(const surroundings& s) {
  std::vector<starter> there;
  std::ranges::copy_if(all, std::back_inserter(there),
                       [&](starter one) { return missing(one, s) == nullptr; });
  return there;
}

std::vector<starter_finding> examine_starters(const surroundings& s) {
  const std::vector<starter> there = starters_of(s);
  std::vector<starter_finding> found;
  for (const starter one : all) {
    const char* lacks = missing(one, s);
    found.push_back({one, !there.empty() && one == there.front(),
                     lacks ? fmt::format("{} is not set", lacks) : describe(one, s)});
  }
  return found;
}

given_rank rank_from(starter by, const surroundings& s) {
  const std::vector<const char*> names = needs_of(by);
  given_rank r;
  r.by = by;
  r.rank = static_cast<peer_id>(number(s, names[0], most_at_root));
  r.size = static_cast<peer_id>(number(s, names[1], most_at_root));
  if (r.rank >= r.size)
    wrong(fmt::format("{}={} and {}={} do not fit together: ranks are 0 to {} - 1", names[0],
                      r.rank, names[1], r.size, names[1]));
  if (r.size > 1) r.root = root_from(by, r.rank, s);
  return r;
}

std::string first_host_of(const std::string& slurm_list) {
  std::string name;
  for (std::size_t i = 0; i < slurm_list.size() && slurm_list[i] != ','; ++i) {
    if (slurm_list[i] != '[') {
      name += slurm_list[i];
      continue;
    }
    const std::size_t end = std::min(slurm_list.find(']', i), slurm_list.size());
    name += slurm_list.substr(i + 1, slurm_list.find_first_of("-,]", i) - i - 1);
    i = end;
  }
  return name;
}

}  // namespace weft::wireup
