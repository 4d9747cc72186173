// SPDX-License-Identifier: Apache-2.0
// Waiting on an external loop.
#include <catch2/catch.hpp>

#include <array>
#include <chrono>
#include <optional>

#include <weft/external_loop.hpp>
#include <weft/weft.hpp>

using namespace weft;
using namespace std::chrono_literals;

TEST_CASE(
    "external loop: what another thread ends while a waiter makes ready to sleep, the waiter "
    "sees") {
  options alone;
  alone.progress = progress_mode::interrupt;  // one poll, then sleep
  context ctx(alone);
  external_loop calls(ctx);
  // After the waiter's poll another thread polled and ended the operation. It saw no sleeping
  // thread, so it rang no doorbell.
  struct waiter {
    int asked = 0;
  } it;
  const auto ended_after_the_look = [](void* w) { return ++static_cast<waiter*>(w)->asked > 1; };
  CHECK(calls.wait(std::chrono::steady_clock::now() + 5s, ended_after_the_look, &it));
  CHECK(ctx.snapshot().sleeps == 0);
}

namespace {
/// An operation that knows when it has ended.
template <class Operation>
struct tracked : Operation {
  template <class Request>
  explicit tracked(const Request& r)
      : Operation(r, [](operation& op) noexcept { static_cast<tracked&>(op).ended = true; }) {}
  void go() { ended = this->start_held(); }
  bool ended = false;
};

/// A message from a rank to itself, and the next one when it has come.
struct traffic {
  explicit traffic(endpoint to) : me(std::move(to)) {}
  bool on_its_way() const { return send && !(send->ended && receive->ended); }
  void go_on() {
    if (on_its_way()) return;
    receive.emplace(me.recv(in, tag{1}));
    send.emplace(me.send(out, tag{1}));
    receive->go();
    send->go();
    ++messages;
  }
  const endpoint me;
  std::array<std::byte, 8> out{}, in{};
  std::optional<tracked<detail::send_operation>> send;
  std::optional<tracked<detail::recv_operation>> receive;
  unsigned messages = 0;
};
}  // namespace

TEST_CASE("external loop: a wait ends at its moment also while other messages come and go") {
  context ctx;
  external_loop calls(ctx);
  traffic all(ctx.peer(0));
  const auto one_more = [](void* t) {
    static_cast<traffic*>(t)->go_on();
    return static_cast<traffic*>(t)->messages == 20'000'000;
  };
  CHECK_FALSE(calls.wait(std::chrono::steady_clock::now() + 20ms, one_more, &all));
  external_loop::progress_guard hold(calls);
  while (all.on_its_way()) hold.poll();
}
