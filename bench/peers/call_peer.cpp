// SPDX-License-Identifier: Apache-2.0
#include "peers/call_peer.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <exception>
#include <stdexcept>
#include <vector>

#include "output/json_lines.hpp"
#include "support/clock.hpp"
#include "support/job.hpp"
#include "support/plan.hpp"

namespace weft::bench {

struct call_side::board {
  std::uint16_t port;
  bool ended;
};

// The memory comes zeroed: a board without a port, whose calls have not ended.
call_side::call_side(forked_member& me, std::size_t size, std::size_t callers)
    : me_(me),
      board_(*reinterpret_cast<board*>(me.shared().data())),
      size_(size),
      callers_(callers) {}

void serving_side::listens_at(std::uint16_t port) {
  board_.port = port;
  me_.barrier();
}

bool serving_side::ended() const noexcept {
  return std::atomic_ref(board_.ended).load(std::memory_order_acquire);
}

calling_side::calling_side(forked_member& me, std::size_t size, std::size_t callers, double effort)
    : call_side(me, size, callers), effort_(effort), out_(1, size), in_(callers, size) {
  fill(out_[0], 1);
}

std::uint16_t calling_side::port() {
  me_.barrier();
  return board_.port;
}

void calling_side::take(std::size_t caller, std::span<const std::byte> result) {
  if (result.size() != size())
    throw std::runtime_error(
        fmt::format("a call with {} bytes was answered with {}", size(), result.size()));
  std::copy(result.begin(), result.end(), in_[caller].begin());
}

void calling_side::measure(const std::function<void(std::size_t each)>& run) {
  const std::size_t each = calls_of_each(callers(), size(), effort_);
  run(std::max<std::size_t>(each / 5, 1));
  const auto start = now_ns();
  run(each);
  me_.report(us_between(start, now_ns()) / static_cast<double>(each * callers()));
  for (std::size_t caller = 0; caller != callers(); ++caller) verify(in_[caller], 1);
  std::atomic_ref(board_.ended).store(true, std::memory_order_release);
}

int call_peer_main(int argc, char** argv, const std::string& library,
                   const std::function<void(serving_side&)>& serve,
                   const std::function<void(calling_side&)>& ask) {
  CLI::App app("The calls of weft-bench, by " + library);
  std::vector<std::size_t> sizes{8, 64, 1 << 10};
  std::size_t outstanding = 64;
  double effort = 1;
  add_sizes(app, sizes, "Calls");
  app.add_option("--outstanding", outstanding, "Calls under way at once, where many are")
      ->check(CLI::Range(1, 1000));
  app.add_option("--effort", effort, "Factor on the number of calls")->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    for (const auto size : sizes)
      for (const std::size_t callers : {std::size_t{1}, outstanding}) {
        const auto body = [&](forked_member& me) {
          if (me.rank() == 1) {
            serving_side side(me, size, callers);
            serve(side);
          } else {
            calling_side side(me, size, callers, effort);
            ask(side);
          }
        };
        const auto samples =
            run_pair({.name = library, .shared_bytes = sizeof(call_side::board)}, body)[0];
        json line = make_line({.bench = "calls", .transport = "tcp", .progress = {}, .size = size},
                              us_per_call, samples);
        line["callers"] = callers;
        line["library"] = library;
        print_line(line);
      }
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", library, error.what());
    return 1;
  }
}

}  // namespace weft::bench
