// SPDX-License-Identifier: Apache-2.0
// Calls answered by streams of values, between messengers. Node 1 calls node 0.
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/coro/detail/detached_task.hpp>

#include "calls_of_test.hpp"

using namespace net;
using weft::async_generator;
using weft::detail::call_bytes;
using weft::detail::item_source;
using weft::proto::call_kind;
using weft::proto::call_tag;
using weft::proto::frame_kind;

namespace {

using strings = async_generator<std::string>;

/// The values of each stream: in one frame, in several, and announced.
const std::vector<std::size_t> value_sizes{0, 8, 44, 5000, 60'000, 400'000, 1, 400'000};

/// Gives value_sizes; counts generators that have begun and ended.
struct giver {
  int begun = 0, ended = 0, given = 0;
  std::vector<std::size_t> sizes = value_sizes;

  strings values(int rounds) {
    struct count {
      giver* of;
      explicit count(giver* g) : of(g) { ++of->begun; }
      ~count() { ++of->ended; }
    };
    const count here(this);
    for (int i = 0; i != rounds; ++i)
      for (const std::size_t n : sizes) {
        std::string text(n, 'v');
        ++given;
        co_yield std::move(text);
      }
  }
};

/// A handler that gives these values.
registered serve_values(side& s, am number, giver& g) {
  auto f = [&g](int rounds) { return g.values(rounds); };
  return {s, number, std::make_unique<weft::detail::typed_code<strings(int), decltype(f)>>(f)};
}

/// Reads a stream, as a chain of node 1.
class values_reading final : weft::detail::detached_task_owner {
 public:
  /// \param most values; then it destroys the generator
  values_reading(side& from, am number, int rounds, int most = 1000) {
    const weft::task_environment chain{nullptr, stop_.get_token(), &from.engine, &from.engine};
    weft::detail::start_detached(*this, chain, read(from.to(0), number, rounds, most), [] {});
  }
  void stop() { stop_.request_stop(); }
  bool ended() const { return ended_; }
  errc how() const { return how_; }

  int got = 0;

 private:
  task<void> read(peer& from, am number, int rounds, int most) {
    strings all = weft::detail::values_from<std::string>(item_source(
        {&from, from.id()}, from.shared_from_this(), number, weft::detail::pack_values(rounds)));
    while (std::string* text = co_await all.next()) {
      CHECK(text->size() == value_sizes[static_cast<std::size_t>(got) % value_sizes.size()]);
      if (++got == most) break;
    }
  }
  void task_ended(std::exception_ptr failure) noexcept override {
    ended_ = true;
    if (!failure) return;
    try {
      std::rethrow_exception(failure);
    } catch (const weft::error& e) {
      how_ = e.kind();
    }
  }

  std::stop_source stop_;
  bool ended_ = false;
  errc how_ = errc::ok;
};

enum class blow { stop, loss_of_called, loss_of_caller };

/// Three streams, and a blow at some moment. \return whether all had ended by then
bool streams_end_after(int steps, blow how, fake::settings s) {
  CAPTURE(steps, static_cast<int>(how));
  nodes n(2, s);
  giver g;
  bool quiet = false;
  {
    const registered h = serve_values(n[0], am{1}, g);
    std::vector<std::unique_ptr<values_reading>> all;
    for (const int most : {3, 6, 1000})
      all.push_back(std::make_unique<values_reading>(n[1], am{1}, 4, most));
    for (int i = 0; i < steps && !quiet; ++i) quiet = !n.step();
    if (how == blow::stop)
      for (auto& r : all) r->stop();
    else
      n.world.kill(how == blow::loss_of_called ? 0 : 1);
    n.settle();
    for (const auto& r : all) {
      if (how == blow::loss_of_caller) continue;  // nothing polls for them
      CHECK(r->ended());
      CHECK((r->how() == errc::ok ||
             r->how() == (how == blow::stop ? errc::stopped : errc::peer_lost)));
    }
    if (how != blow::loss_of_called) CHECK(g.begun == g.ended);
    if (how == blow::loss_of_called) n[0].end();
    if (how == blow::loss_of_caller) n[1].end();
  }
  n.settle();
  if (how != blow::loss_of_caller) CHECK(n[1].clean());
  if (how != blow::loss_of_called) CHECK(n[0].clean());
  return quiet;
}

}  // namespace

TEST_CASE("streams of values: all sizes come in order, and nothing is left") {
  nodes n(2, either_memory());
  giver g;
  {
    const registered h = serve_values(n[0], am{1}, g);
    values_reading r(n[1], am{1}, 10);
    n.settle();
    CHECK(r.ended());
    CHECK(r.how() == errc::ok);
    CHECK(r.got == 10 * static_cast<int>(value_sizes.size()));
  }
  CHECK(n.clean());
}

TEST_CASE("streams of values: a reader that leaves ends its handler, and nothing is left") {
  nodes n(2, either_memory());
  giver g;
  const int most = GENERATE(1, 4, 6, 8, 9);
  {
    const registered h = serve_values(n[0], am{1}, g);
    values_reading r(n[1], am{1}, 100, most);
    n.settle();
    CHECK(r.ended());
    CHECK(g.ended == 1);
    CHECK(g.given <= most + 18);
    values_reading again(n[1], am{1}, 1);
    n.settle();
    CHECK(again.how() == errc::ok);
  }
  CHECK(n.clean());
}

TEST_CASE("streams of values: stopped at any moment, they end, and nothing is left") {
  const fake::settings s = either_memory();
  for (int steps = 0; !streams_end_after(steps, blow::stop, s);)
    steps += WEFT_TEST_SANITIZED ? 11 : 3;
}
TEST_CASE("streams of values: the called peer is lost at any moment") {
  const fake::settings s = either_memory();
  for (int steps = 0; !streams_end_after(steps, blow::loss_of_called, s);)
    steps += WEFT_TEST_SANITIZED ? 11 : 3;
}
TEST_CASE("streams of values: the caller is lost at any moment, and its handlers stop") {
  const fake::settings s = either_memory();
  for (int steps = 0; !streams_end_after(steps, blow::loss_of_caller, s);)
    steps += WEFT_TEST_SANITIZED ? 11 : 3;
}

TEST_CASE("streams of values: a handler that is ended stops its streams") {
  nodes n(2);
  giver g;
  g.sizes = {8};  // a long one in flight would need steps of the other node
  {
    item_source slow({&n[1].to(0)}, n[1].to(0).shared_from_this(), am{1},
                     weft::detail::pack_values(100));
    using next_value = tracked<weft::detail::next_item_operation>;
    std::optional<next_value> next;
    {
      const registered h = serve_values(n[0], am{1}, g);
      next.emplace(slow.next());
      next->go();
      n.settle();
      CHECK(g.ended == 0);
    }
    CHECK(g.ended == 1);
    n.settle();
    for (std::uint32_t i = 0; i != weft::proto::most_items_ahead; ++i) {
      CHECK(next->ended_with(errc::ok));
      next.emplace(slow.next());
      next->go();
    }
    CHECK(next->ended_with(errc::closed));  // behind all that had come
  }
  n.settle();
  CHECK(n.clean());
}

TEST_CASE("streams of values: a handler that is stopped takes the value back that waits") {
  nodes n(2);
  giver g;
  g.sizes = {8, 400'000};
  {
    registered h = serve_values(n[0], am{1}, g);
    {
      item_source slow({&n[1].to(0)}, n[1].to(0).shared_from_this(), am{1},
                       weft::detail::pack_values(1));
      tracked<weft::detail::next_item_operation> first(slow.next());
      first.go();
      n.settle();
      CHECK(first.ended_with(errc::ok));
      CHECK(g.given == 2);
      h.stop();
      n.settle();
      CHECK(g.ended == 1);
      tracked<weft::detail::next_item_operation> second(slow.next());
      second.go();
      n.settle();
      CHECK(second.ended_with(errc::closed));
    }
    n.settle();
  }
  CHECK(n.clean());
}

TEST_CASE("streams of values: a peer that is too far ahead of its reader is cut off") {
  nodes n(2);
  const bytes empty;
  const auto send_items = [&](std::uint32_t count) {
    for (std::uint32_t i = 0; i != count; ++i)
      n[0].send(1, empty, weft::tag{call_tag{call_kind::item, 1, 0}.packed()});
    n.settle();
  };
  {
    item_source slow({&n[1].to(0)}, n[1].to(0).shared_from_this(), am{8}, call_bytes());
    tracked<weft::detail::next_item_operation> first(slow.next());
    first.go();
    n.settle();
    send_items(weft::proto::most_items_ahead);
    CHECK(first.ended_with(errc::ok));
    CHECK(n[1].to(0).why() == errc::ok);
    send_items(1);
    CHECK(n[1].to(0).why() == errc::protocol_error);
  }
}

TEST_CASE("streams of values: a caller that lets more come than it may is cut off") {
  nodes n(2);
  giver g;
  {
    const registered h = serve_values(n[0], am{1}, g);
    item_source slow({&n[1].to(0)}, n[1].to(0).shared_from_this(), am{1},
                     weft::detail::pack_values(3));
    tracked<weft::detail::next_item_operation> first(slow.next());
    first.go();
    n.settle();
    peer& called = n[1].to(0);
    for (int i = 0; i != 3; ++i) {
      const engine::holder hold(n[1].engine);
      called.writer().send_control(frame_kind::call_more, 1);
    }
    n.settle();
    CHECK(n[0].to(1).why() == errc::protocol_error);
  }
}
