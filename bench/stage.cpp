// SPDX-License-Identifier: Apache-2.0
#include "stage.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <map>
#include <optional>

#include "support/hosts.hpp"
#include "support/pair.hpp"
#include "wireup/job_key.hpp"

namespace weft::bench {
namespace {

const std::map<std::string, progress_mode> modes{{"dedicated", progress_mode::dedicated},
                                                 {"polling", progress_mode::polling},
                                                 {"interrupt", progress_mode::interrupt},
                                                 {"two_threads", progress_mode::two_threads}};

}  // namespace

void add_settings(CLI::App& app, settings& into, choices open) {
  if (open.transport) app.add_option("--transport", into.transport, "Over this transport");
  if (open.progress)
    app.add_option("--progress", into.progress,
                   "Who moves messages: dedicated, polling, interrupt, two_threads")
        ->check(CLI::IsMember({"dedicated", "polling", "interrupt", "two_threads"}));
  app.add_flag_callback(
      "--no-pin", [&into] { into.pin = false; }, "Let the scheduler choose the cores");
  app.add_flag("--json", into.as_json, "JSON lines instead of a table");
}

options options_of(const settings& chosen) {
  options result = options::from_environment();
  result.transports = {"self", chosen.transport};
  result.progress = modes.at(chosen.progress);
  return result;
}

line_head head_of(const std::string& bench, const settings& chosen, std::size_t size) {
  return {.bench = bench, .transport = chosen.transport, .progress = chosen.progress, .size = size};
}

void place::meet(pair_member& member, const std::string& address) {
  if (member.rank() == 0) {
    listener listening = run(ctx, ctx.listen(address));
    member.barrier();
    peer = run(ctx, listening.accept());
  } else {
    member.barrier();
    peer = run(ctx, ctx.connect(address));
  }
}

void on_stage(const std::string& name, const settings& chosen, bool apart,
              const std::function<task<void>(side&)>& act) {
  std::optional<hosts> both;
  options wanted = options_of(chosen);
  std::string address = fmt::format("unix://weft-bench-{}", ::getpid());
  if (apart) {
    hosts::check(chosen.transport);
    both.emplace();
    wanted.job_key = wireup::job_key::random().to_text();
    address = fmt::format("tcp://{}:0", hosts::address(0));
  }
  const pair_options stage{.name = name,
                           .shared_bytes = longest_address,
                           .time_limit = std::chrono::minutes(10),
                           .pin = chosen.pin,
                           .apart = both ? &*both : nullptr};
  run_pair(stage, [&](pair_member& member) {
    context ctx(wanted);
    const auto perform = [&](endpoint peer) {
      side self{ctx, std::move(peer), member.rank()};
      run(ctx, act(self));
      // Neither context ends while the other side's coroutine still runs.
      run(ctx, barrier(self));
      member.barrier();
    };
    char* const told = reinterpret_cast<char*>(member.shared().data());
    if (member.rank() == 0) {
      listener listening = run(ctx, ctx.listen(address));
      listening.address().copy(told, longest_address - 1);
      member.barrier();
      perform(run(ctx, listening.accept()));
    } else {
      member.barrier();
      perform(run(ctx, ctx.connect(told)));
    }
  });
}

task<void> barrier(const side& me) {
  scope both;
  both.start(me.peer.send(const_buffer{}, sync_tag));
  both.start(me.peer.recv(mutable_buffer{}, sync_tag));
  co_await both.join();
}

}  // namespace weft::bench
