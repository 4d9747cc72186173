// SPDX-License-Identifier: Apache-2.0
// A job that grows while it runs: rank 0 lets others join, prints the members that join and leave.
//
//   grow [N]        starts a job of one, prints the address for joiners, ends after N of them
//   grow ADDRESS    joins it, exchanges a message with rank 0, and leaves
//
// With the same WEFT_JOB_KEY on all hosts, the first process also listens for other hosts.
#include <cstdio>
#include <cstdlib>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr tag hello{1};

/// Answers every message with the double of its number.
task<void> greet(context& ctx) {
  for (;;) {
    const auto [said, from] = co_await ctx.recv_value_from<int>(hello);
    std::printf("rank %u says %d\n", from.source, said);
    co_await ctx.peer(from.source).send_value(hello, 2 * said);
  }
}

/// Waits until the expected number of members has joined and left: two changes for each.
task<void> host(context& ctx, std::uint64_t requesters) {
  membership job(ctx);
  const bool has_key = std::getenv("WEFT_JOB_KEY") || std::getenv("WEFT_JOB_KEY_FILE");
  std::printf("%s\n", job.open(has_key ? "tcp://0.0.0.0:0" : "any://:0").c_str());
  std::fflush(stdout);
  scope fly;
  fly.start(greet(ctx));
  membership_view members = job.now();
  while (members.epoch < 2 * requesters) {
    members = co_await job.changed(members.epoch);
    std::printf("epoch %llu: %zu members\n", static_cast<unsigned long long>(members.epoch),
                members.ranks.size());
  }
  fly.request_stop();
  static_cast<void>(co_await as_result(fly.join()));  // stopped, as asked
}

task<void> visit(context& ctx) {
  membership job(ctx);
  const membership_view members = job.now();
  std::printf("I am rank %u of %zu members\n", job.rank(), members.ranks.size());
  co_await ctx.peer(0).send_value(hello, static_cast<int>(job.rank()));
  const int number = co_await ctx.peer(0).recv_value<int>(hello);
  std::printf("rank 0 answers %d\n", number);
  co_await job.leave();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc == 2 && std::atoi(argv[1]) == 0) {
      context ctx = join(argv[1]);
      run(ctx, visit(ctx));
    } else {
      context ctx;
      run(ctx, host(ctx, argc == 2 ? std::strtoull(argv[1], nullptr, 10) : 1));
    }
    return 0;
  } catch (const error& e) {
    std::fprintf(stderr, "grow: %s\n", e.what());
    return 1;
  }
}
