// SPDX-License-Identifier: Apache-2.0
// feed: market data for subscribers of different speeds, which come and go.
//
//   feed publish unix://quotes --count 20000          until all are published, with 3 subscribers
//   feed archive unix://quotes                        gets every quote: the publisher waits for it
//   feed chart unix://quotes --pause 2                gets the latest ones, and counts the missed
//   feed books unix://quotes                          gets the order books, read where they lie
//
// A subscriber that is killed costs the others nothing: try it. `weft-info topics unix://quotes`
// lists the subscribers with their policies and counters.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

struct settings {
  std::string at = {};
  std::uint64_t count = 20'000;
  unsigned subscribers = 3;
  unsigned pause = 0;  // milliseconds for one quote
};

struct quote {
  std::uint64_t number = 0;
  double price = 0;
};

/// All orders of one instrument: long enough to be read in place.
struct level {
  double price = 0;
  std::uint64_t amount = 0;
};
using book = std::vector<level>;
constexpr std::size_t levels = 4096;

/// A line at once, also into a file.
void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

double price_of(std::uint64_t number) { return 100 + static_cast<double>(number % 977) / 100; }

// --- the publisher ------------------------------------------------------------------------------

std::size_t subscribers_of(const publisher<quote>& quotes, const publisher<book>& books) {
  return quotes.info().subscribers.size() + books.info().subscribers.size();
}

task<void> publish(context& ctx, settings s) {
  publisher<quote> quotes(ctx, "quotes", {.history = 100});
  publisher<book> books(ctx, "books", {.history = 1});
  listener door = co_await ctx.listen(s.at);
  scope doors;
  say("publishing at " + door.address());
  doors.start(door.accept_all());  // peers that connect subscribe by themselves
  while (subscribers_of(quotes, books) < s.subscribers)
    co_await sleep_for(std::chrono::milliseconds(1));
  for (std::uint64_t n = 1; n <= s.count; ++n) {
    const quote next{n, price_of(n)};
    co_await quotes.publish(next);
    if (n % 100 != 0) continue;
    loan<level> filled = ctx.make_loan<level>(levels);  // the subscribers read it here
    for (std::size_t i = 0; i != levels; ++i) filled[i] = {next.price - static_cast<double>(i), n};
    co_await books.publish_loan(std::move(filled));
  }
  quotes.close();
  books.close();
  co_await quotes.closed();
  co_await books.closed();
  say(fmt::format("published {} quotes", s.count));
  door.close();
  co_await doors.join();
}

// --- subscribers --------------------------------------------------------------------------------

task<void> follow_quotes(context& ctx, settings s, subscription_options how) {
  reconnecting_endpoint feed(ctx, s.at);
  subscriber<quote> in(ctx, co_await feed.connected(), "quotes", how);
  std::uint64_t last = 0, wrong = 0;
  while (auto q = co_await in.next()) {
    last = (*q)->number;
    if ((*q)->price != price_of(last)) ++wrong;
    if (s.pause > 0) co_await sleep_for(std::chrono::milliseconds(s.pause));
  }
  const subscription_counts n = in.counts();
  say(fmt::format("received {}, missed {}, wrong {}, the last one {}", n.received, n.missed, wrong,
                  last));
}

task<void> follow_books(context& ctx, settings s) {
  reconnecting_endpoint feed(ctx, s.at);
  subscriber<book> in(ctx, co_await feed.connected(), "books", {.depth = 4});
  std::uint64_t received = 0, in_place = 0, wrong = 0;
  while (auto b = co_await in.next()) {
    const std::span<const level> all = b->value();
    ++received;
    in_place += b->in_place();
    if (all.size() != levels || all.front().amount != all.back().amount) ++wrong;
  }
  say(fmt::format("received {}, in place {}, wrong {}", received, in_place, wrong));
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("Market data for subscribers of different speeds.");
  app.require_subcommand(1);
  for (const char* part : {"publish", "archive", "chart", "books"}) {
    auto* one = app.add_subcommand(part);
    one->add_option("address", s.at)->required();
    one->add_option("--count", s.count, "quotes");
    one->add_option("--subscribers", s.subscribers, "how many to wait for");
    one->add_option("--pause", s.pause, "milliseconds for each quote");
  }
  CLI11_PARSE(app, argc, argv);
  return run_main([&](context& ctx) -> task<void> {
    if (app.got_subcommand("publish")) return publish(ctx, s);
    if (app.got_subcommand("books")) return follow_books(ctx, s);
    if (app.got_subcommand("archive"))
      return follow_quotes(ctx, s, {.policy = when_full::block, .depth = 64});
    return follow_quotes(ctx, s, {.policy = when_full::drop_oldest, .depth = 8});
  });
}
