// SPDX-License-Identifier: Apache-2.0
#include "stage/sides.hpp"

#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

#include "serve/client.hpp"
#include "serve/served_side.hpp"
#include "stage/launcher.hpp"
#include "stage/linked_member.hpp"
#include "support/affinity.hpp"

namespace weft::bench {
namespace {

[[noreturn]] void refuse_number(const std::string& name, const launcher& by, peer_id ranks) {
  if (ranks == 1)
    throw std::runtime_error(
        fmt::format("{} is for two processes, and this one is alone in its job: {}", name,
                    by.start_together(2)));
  throw std::runtime_error(
      fmt::format("{} is for two processes, and this job has {}: {}", name, ranks, by.start(2)));
}

void be_a_rank(const launcher& by, const std::string& name, const settings& chosen,
               const std::function<void(pair_member&)>& body) {
  if (chosen.pin) pin_rank(by.place);
  context ctx(options_of_link());
  const group world = ctx.world();
  if (world.size() != 2) refuse_number(name, by, world.size());
  linked_member self(ctx, world[1 - world.rank()], static_cast<int>(world.rank()));
  run_linked(self, chosen, body);
}

}  // namespace

void add_side_options(CLI::App& app, settings& into) {
  auto* const to = app.add_option("--to", into.to,
                                  "The other side on that host, where `weft-bench serve` runs: "
                                  "host or host:port");
  app.add_option("--key-file", into.key_file, "The file with the job key of that server")
      ->needs(to);
  for (const char* only_forked : {"--hosts", "--c"})
    if (auto* const option = app.get_option_no_throw(only_forked)) to->excludes(option);
}

void on_sides(const std::string& name, const settings& chosen,
              const std::function<void(pair_member&)>& body, const hosts* apart) {
  if (const auto line = served_line()) return be_served(*line, chosen, body);
  if (!chosen.to.empty()) return be_client(chosen, body);
  if (const auto by = launched_by()) {
    if (apart)
      throw std::runtime_error(fmt::format(
          "--hosts makes two hosts for processes that weft-bench starts: leave it out under {}",
          by->name));
    return be_a_rank(*by, name, chosen, body);
  }
  run_pair(
      {.name = name, .time_limit = std::chrono::minutes(20), .pin = chosen.pin, .apart = apart},
      body);
}

}  // namespace weft::bench
