// SPDX-License-Identifier: Apache-2.0
#include "stage/stage.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>
#include <weft/context_address.hpp>

#include "support/hosts.hpp"

namespace weft::bench {
namespace {

options of_no_job(options chosen) {
  chosen.standalone = true;
  return chosen;
}

}  // namespace

place::place(options chosen) : ctx(of_no_job(std::move(chosen))) {}

void place::meet(pair_member& member) {
  const context_address mine = context_address_of(ctx);
  const auto theirs = member.exchange(mine.bytes);
  context_address where;
  if (theirs.size() != where.bytes.size())
    throw std::runtime_error("the other side is at another step of the benchmark");
  std::copy(theirs.begin(), theirs.end(), where.bytes.begin());
  peer = peer_at(ctx, where);
}

void on_stage(const std::string& name, const settings& chosen, bool apart,
              const std::function<task<void>(side&)>& act) {
  std::optional<hosts> both;
  if (apart) {
    hosts::check(chosen.transport);
    both.emplace();
  }
  on_sides(
      name, chosen, [&](pair_member& member) { on_stage(member, chosen, act); },
      both ? &*both : nullptr);
}

void on_stage(pair_member& member, const settings& chosen,
              const std::function<task<void>(side&)>& act) {
  place at(options_of(chosen));
  at.meet(member);
  side self = side_at(at, member);
  run(at.ctx, act(self));
  // Neither context ends while the other side's coroutine still runs.
  run(at.ctx, barrier(self));
  member.barrier();
}

task<void> barrier(const side& me) {
  scope both;
  both.start(me.peer.send(const_buffer{}, sync_tag));
  both.start(me.peer.recv(mutable_buffer{}, sync_tag));
  co_await both.join();
}

}  // namespace weft::bench
