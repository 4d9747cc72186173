// SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <fmt/format.h>

#include <map>

namespace hostile {

namespace {

using sets = std::map<std::string, std::vector<std::string>>;

const sets& all_sets() {
  static const sets all{
      {"shm", {"self", "shm"}},           {"tcp", {"self", "tcp"}},
      {"tls", {"self", "tcp"}},           {"qdma", {"self", "qdma"}},
      {"composite", {"self", "shm+tcp"}}, {"mixed", {"self", "shm", "tcp", "qdma"}}};
  return all;
}

}  // namespace

std::vector<std::string> transports_named(const std::string& name) {
  const auto found = all_sets().find(name);
  return found == all_sets().end() ? std::vector<std::string>{} : found->second;
}

const std::vector<std::string>& transport_names() {
  static const std::vector<std::string> names{"mixed", "shm", "tcp", "tls", "composite", "qdma"};
  return names;
}

const std::vector<std::string>& progress_names() {
  static const std::vector<std::string> names{"dedicated", "polling", "interrupt"};
  return names;
}

const std::vector<std::string>& plant_names() {
  static const std::vector<std::string> names{"stall", "leak", "descriptors"};
  return names;
}

std::string settings::command() const {
  std::string text = fmt::format("weft-hostile --seed {} --seeds {} --transport {} --progress {}",
                                 first, seeds, transport, progress);
  for (std::size_t i = 0; i != only.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? " --only " : ",", only[i]);
  if (slowest != settings().slowest) text += fmt::format(" --slowest {}", slowest);
  if (!plant.empty()) text += " --plant " + plant;
  for (const std::string& name : without) text += " --without " + name;
  return text;
}

weft::options common_options(const settings& s) {
  weft::options o;
  o.transports = transports_named(s.transport);
  o.tcp_interfaces = {"lo"};
  if (s.transport == "tls") o.tcp_tls = weft::tcp_encryption::yes;
  o.unexpected_budget = unexpected_budget;
  o.loan_budget = loan_budget;
  // Five processes, and mostly fewer cores.
  o.spin = std::chrono::microseconds(20);
  o.processes_per_host = 5;
  o.job_key = "77656674207465737473206b6e6f7720746869732e";
  return o;
}

}  // namespace hostile
