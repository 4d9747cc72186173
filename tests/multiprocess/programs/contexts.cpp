// SPDX-License-Identifier: Apache-2.0
// A rank that makes several contexts: one after the other, or two at a time.
#include <cstdio>
#include <span>
#include <string>

#include <weft/weft.hpp>

using namespace weft;
using namespace std::chrono_literals;

namespace {

/// Checks that the neighbour's message is that of this turn.
task<void> exchange(context& ctx, int turn) {
  const group world = ctx.world();
  const peer_id me = world.rank(), size = world.size();
  int got = -1;
  scope both;
  both.start(world[(me + 1) % size].send(std::as_bytes(std::span(&turn, 1)), tag{1}));
  both.start(
      world[(me + size - 1) % size].recv(std::as_writable_bytes(std::span(&got, 1)), tag{1}));
  co_await both.join();
  if (got != turn) throw error(errc::protocol_error, "a message of another turn");
  co_await world.barrier();
}

/// \return what is wrong; empty: nothing
std::string second_context() {
  try {
    context second;
  } catch (const error& e) {
    const bool tells = std::string(e.what()).find("options::standalone") != std::string::npos;
    return e.kind() == errc::invalid_argument && tells ? "" : e.what();
  }
  return "a rank can have two contexts";
}

void two_at_a_time() {
  context first;
  if (const std::string wrong = second_context(); !wrong.empty())
    throw error(errc::unsupported, wrong);
  options chosen;
  chosen.standalone = true;
  context second(chosen);
  run(second, exchange(second, 1));  // with itself
  run(first, exchange(first, 1));
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc > 1 && std::string(argv[1]) == "two") {
    two_at_a_time();
  } else {
    for (int turn = 0; turn != 10; ++turn) {
      context ctx;
      run(ctx, within(60s, exchange(ctx, turn)));
    }
  }
  std::puts("fine");
  return 0;
} catch (const std::exception& e) {
  std::fprintf(stderr, "contexts: %s\n", e.what());
  return 1;
}
