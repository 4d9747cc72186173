// SPDX-License-Identifier: Apache-2.0
// stripe: two hosts joined by two equal cables; one link against two.
#include <fmt/format.h>
#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <vector>

#include "commands.hpp"
#include "output/stats.hpp"
#include "stage/loops.hpp"
#include "stage/report.hpp"
#include "support/hosts.hpp"
#include "support/job.hpp"

namespace weft::bench::stripe_command {
namespace {

struct request {
  settings chosen{.transport = "tcp"};
  job what{.bench = "stripe", .sizes = {std::size_t{8} << 20}, .effort = 0.2};
  unsigned megabits = 200;
  unsigned rounds = 5;
};

/// What the first of the two processes tells this one.
class told {
 public:
  told()
      : at_(static_cast<double*>(::mmap(nullptr, sizeof(double), PROT_READ | PROT_WRITE,
                                        MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (at_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~told() { ::munmap(at_, sizeof(double)); }
  told(const told&) = delete;
  told& operator=(const told&) = delete;
  double& value() const noexcept { return *at_; }

 private:
  double* at_;
};

/// Megabytes a second over that many links.
double measure(const request& wanted, std::size_t size, unsigned links) {
  const told answer;
  ::setenv("WEFT_TCP_LINKS", std::to_string(links).c_str(), 1);
  on_stage("stripe", wanted.chosen, true, [&](side& me) -> task<void> {
    co_await barrier(me);
    const std::vector<double> samples = co_await windows(me, size, wanted.what);
    if (me.rank == 0) answer.value() = median(samples) * static_cast<double>(size);
  });
  return answer.value();
}

void compare(const request& wanted) {
  const hosts both;  // also those of on_stage
  both.add_cable();
  both.limit(wanted.megabits);
  ::setenv("WEFT_TCP_INTERFACES",
           fmt::format("{},{}", hosts::interface, hosts::second_interface).c_str(), 1);
  report out({{"size", "size"},
              {"one link MB/s", "one_mb_s"},
              {"two links MB/s", "two_mb_s"},
              {"ratio", "ratio"}},
             wanted.chosen.as_json);
  out.title(fmt::format("two cables of {} Mbit/s each, {} rounds of one link and of two",
                        wanted.megabits, wanted.rounds));
  for (const std::size_t size : wanted.what.sizes) {
    std::vector<double> one, two, ratios;
    for (unsigned round = 0; round != wanted.rounds; ++round) {
      one.push_back(measure(wanted, size, 1));
      two.push_back(measure(wanted, size, 2));
      ratios.push_back(two.back() / one.back());
    }
    auto line = make_line(head_of("stripe", wanted.chosen, size), "ratio", ratios);
    line["one_mb_s"] = median(one);
    line["two_mb_s"] = median(two);
    line["megabits"] = wanted.megabits;
    out.add(line);
  }
  out.finish();
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("stripe", "Large messages over two links against one");
  add_sizes(*sub, wanted->what.sizes, "Messages")->capture_default_str();
  sub->add_option("--window", wanted->what.window, "Messages in flight")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  add_settings(*sub, wanted->chosen);
  sub->add_option("--megabits", wanted->megabits, "What each of the two cables carries in a second")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  sub->add_option("--rounds", wanted->rounds, "How often one link and two are measured")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  sub->callback([wanted] { compare(*wanted); });
}

}  // namespace weft::bench::stripe_command
