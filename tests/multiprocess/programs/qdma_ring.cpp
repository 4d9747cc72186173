// SPDX-License-Identifier: Apache-2.0
// A chain of 1000 descriptors that goes round four processes whose application threads sleep
// outside of weft until it has ended:    weft-run -n 4 qdma_ring
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

#include <weft/qdma.hpp>
#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr std::size_t rounds = 250;
constexpr tag contact_tag{1}, events_tag{2}, pid_tag{3};

template <class T>
std::span<const std::byte> out(const T& t) {
  return std::as_bytes(std::span(&t, 1));
}
template <class T>
std::span<std::byte> in(T& t) {
  return std::as_writable_bytes(std::span(&t, 1));
}

task<qdma::device> device_of(context& ctx) {
  const group world = ctx.world();
  qdma::device_address where;
  if (world.rank() != 0) {
    co_await world[0].recv(in(where), contact_tag);
    co_return co_await qdma::device::join(ctx, where);
  }
  qdma::device d = qdma::device::open(ctx);
  where = d.where();
  for (peer_id r = 1; r != world.size(); ++r) co_await world[r].send(out(where), contact_tag);
  co_return d;
}

task<void> play(context& ctx, const sigset_t& wake_up) {
  const group world = ctx.world();
  const peer_id me = world.rank(), after = (me + 1) % world.size();
  qdma::device d = co_await device_of(ctx);

  // The k-th event of each process triggers the k-th of the next one; that of the last process
  // triggers the next event of the first.
  std::vector<qdma::event> mine;
  std::vector<qdma::remote_event> names, next(rounds);
  for (std::size_t k = 0; k != rounds; ++k) {
    mine.push_back(d.make_event());
    names.push_back(mine.back().id());
  }
  const peer_id before = (me + world.size() - 1) % world.size();
  scope all;
  all.start(world[before].send(std::as_bytes(std::span(names)), events_tag));
  all.start(world[after].recv(std::as_writable_bytes(std::span(next)), events_tag));
  co_await all.join();
  co_await d.meet(next[0].owner);
  const qdma::event over = d.make_event();
  for (std::size_t k = 0; k != rounds; ++k) {
    if (after != 0)
      mine[k].on_trigger(qdma::signal(next[k]));
    else if (k + 1 != rounds)
      mine[k].on_trigger(qdma::signal(next[k + 1]));
  }
  // The very last event tells the first process.
  qdma::remote_event end = over.id();
  if (me == 0) co_await world[before].send(out(end), events_tag);
  if (after == 0) {
    co_await world[0].recv(in(end), events_tag);
    mine.back().on_trigger(qdma::signal(end));
  }
  co_await world.barrier();

  pid_t pid = ::getpid();
  if (me != 0) {
    co_await world[0].send(out(pid), pid_tag);
    int what = 0;
    if (::sigwait(&wake_up, &what) != 0) throw std::runtime_error("sigwait");
  } else {
    std::vector<pid_t> asleep(world.size());
    for (peer_id r = 1; r != world.size(); ++r) co_await world[r].recv(in(asleep[r]), pid_tag);
    d.start(qdma::signal(names[0]));
    co_await over;
    std::puts("1000 descriptors");
    for (peer_id r = 1; r != world.size(); ++r) ::kill(asleep[r], SIGUSR1);
  }
  co_await world.barrier();
}

}  // namespace

int main() {
  sigset_t wake_up;
  sigemptyset(&wake_up);
  sigaddset(&wake_up, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &wake_up, nullptr);
  try {
    context ctx;
    run(ctx, play(ctx, wake_up));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "qdma_ring: %s\n", e.what());
    return 1;
  }
}
