// SPDX-License-Identifier: Apache-2.0
#include "serve/served_side.hpp"

#include <sys/socket.h>

#include <chrono>
#include <cstdlib>
#include <exception>

#include "serve/note.hpp"
#include "stage/linked_member.hpp"
#include "support/affinity.hpp"

namespace weft::bench {
namespace {

using namespace std::chrono_literals;

constexpr auto time_to_come = 30s;

void tell(int line, const note& what) {
  static_cast<void>(::send(line, what.bytes().data(), what.bytes().size(), MSG_NOSIGNAL));
}

/// Only the client has the address of this context, whose first message it is.
task<endpoint> first_peer(context& ctx) {
  const received about = co_await ctx.probe(any_tag);
  co_return ctx.peer(about.source);
}

}  // namespace

std::optional<int> served_line() {
  const char* const text = std::getenv(served_variable);
  if (!text) return {};
  return std::atoi(text);
}

void be_served(int line, const settings& chosen, const std::function<void(pair_member&)>& body) {
  try {
    if (chosen.pin) pin_rank(1);
    options mine = options_of_link();
    mine.standalone = true;
    context ctx(mine);
    tell(line, note::of(context_address_of(ctx)));
    linked_member self(ctx, run(ctx, within(time_to_come, first_peer(ctx))), 1);
    run_linked(self, chosen, body);
  } catch (const std::exception& e) {
    tell(line, note::of_failure(e.what()));
    throw;
  }
}

}  // namespace weft::bench
