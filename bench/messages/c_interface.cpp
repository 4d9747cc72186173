// SPDX-License-Identifier: Apache-2.0
#include "messages/c_interface.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <stdexcept>

#include <weft/weft.h>

#include "stage/launcher.hpp"
#include "stage/plain_loop.hpp"
#include "support/pair.hpp"

namespace weft::bench {
namespace {

constexpr int minute = 60'000;

void check(int code, const char* what) {
  if (code < 0) throw std::runtime_error(fmt::format("{}: {}", what, weft_strerror(code)));
}

/// Waits until the operation posted with this result has ended.
weft_completion end_of(weft_context* ctx, const weft_op& op, int posted) {
  check(posted, "posting");
  weft_completion done{};
  if (posted == WEFT_DONE)
    weft_result(&op, &done);
  else
    while (weft_poll(ctx, &done, 1) == 0) {
    }
  check(done.status, "an operation");
  return done;
}

void send(const c_side& me, std::span<const std::byte> data) {
  weft_op op;
  end_of(me.ctx, op, weft_send(me.peer, data.data(), data.size(), data_tag.value, &op, nullptr));
}

std::size_t receive(const c_side& me, std::span<std::byte> into) {
  weft_op op;
  const int posted =
      weft_recv(me.ctx, me.peer, into.data(), into.size(), data_tag.value, 0, &op, nullptr);
  return end_of(me.ctx, op, posted).size;
}

/// By a message each way.
void barrier(const c_side& me) {
  if (me.rank == 0) send(me, {});
  receive(me, {});
  if (me.rank == 1) send(me, {});
}

}  // namespace

void on_c_stage(const std::string& name, const settings& chosen,
                const std::function<void(const c_side&)>& act) {
  const std::string address = fmt::format("unix://weft-bench-c-{}", ::getpid());
  const std::string transports = "WEFT_TRANSPORTS=self," + chosen.transport;
  const std::string progress = "WEFT_PROGRESS=" + chosen.progress;
  if (const auto by = launched_by())
    throw std::runtime_error(fmt::format(
        "--c measures two processes that weft-bench starts: run it without {}", by->name));
  const pair_options stage{.name = name,
                           .shared_bytes = longest_address,
                           .time_limit = std::chrono::minutes(10),
                           .pin = chosen.pin};
  run_pair(stage, [&](forked_member& member) {
    const char* const settings_list[] = {transports.c_str(), progress.c_str(), nullptr};
    char why[200] = "";
    const weft_options options{sizeof(weft_options), settings_list, why, sizeof why};
    weft_context* made = nullptr;
    if (weft_open(&options, &made) < 0) throw std::runtime_error(why);
    const std::unique_ptr<weft_context, void (*)(weft_context*)> ctx(made, &weft_close);
    c_side me{made, nullptr, member.rank()};
    weft_listener* listening = nullptr;
    if (me.rank == 0) check(weft_listen(made, address.c_str(), &listening), "listening");
    member.barrier();
    if (me.rank == 0)
      check(weft_accept(listening, minute, nullptr, 0, &me.peer), "accepting");
    else
      check(weft_connect(made, address.c_str(), nullptr, minute, &me.peer), "connecting");
    act(me);
    barrier(me);
    member.barrier();
  });
}

std::vector<double> half_round_trips_in_c(const c_side& me, std::size_t size, plan loops) {
  struct {
    const c_side& me;
    void send(std::span<const std::byte> data) const { bench::send(me, data); }
    std::size_t receive(std::span<std::byte> into) const { return bench::receive(me, into); }
  } const by_calls{me};
  barrier(me);
  return half_round_trips_by(by_calls, me.rank, size, loops);
}

}  // namespace weft::bench
