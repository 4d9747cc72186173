// SPDX-License-Identifier: Apache-2.0
// tree: broadcasts down a binary tree by chains alone. Each rank's device passes the data on; the
// application sleeps meanwhile, and makes no call into weft.
//
//   weft-run -n 7 tree
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <thread>

#include <weft/qdma.hpp>
#include <weft/weft.hpp>

namespace {

using namespace weft;
using clock = std::chrono::steady_clock;

constexpr tag root_tag{1}, place_tag{2};
constexpr std::size_t size = 4096;
constexpr unsigned rounds = 100;
constexpr auto nap = std::chrono::milliseconds(300);

/// The root's device, and the event that counts the ranks that have the data.
struct root_names {
  qdma::device_address device;
  qdma::remote_event has_it;
};

/// A rank's region for the data, and its event, which is counted when the data is there.
struct place {
  qdma::remote_region memory;
  qdma::remote_event arrived;
};

constexpr std::byte content(unsigned round) { return static_cast<std::byte>(round + 1); }

/// Rank 0: each broadcast is one descriptor; the tree does the rest.
task<void> lead(qdma::device& d, const qdma::region& data, const qdma::event& arrived,
                const qdma::event& all_have_it, std::size_t others) {
  const clock::time_point start = clock::now();
  for (unsigned round = 0; round != rounds; ++round) {
    std::ranges::fill(data.bytes(), content(round));
    d.start(qdma::signal(arrived.id()));
    co_await all_have_it;
  }
  const std::chrono::duration<double, std::milli> took = clock::now() - start;
  fmt::print("{} broadcasts of {} bytes to {} sleeping ranks in {:.2f} ms\n", rounds, size, others,
             took.count());
}

task<void> take_part(context& ctx) {
  const group world = ctx.world();
  const peer_id me = world.rank(), others = world.size() - 1;

  // The first rank makes the table of devices; the others join by the address that it sends.
  std::optional<qdma::device> d;
  std::optional<qdma::event> all_have_it;
  root_names root;
  if (me == 0) {
    d = qdma::device::open(ctx);
    all_have_it = d->make_event(others, true);
    root = {d->where(), all_have_it->id()};
    for (peer_id r = 1; r <= others; ++r) co_await world[r].send_value(root_tag, root);
  } else {
    co_await world[0].recv_value(root_tag, root);
    d = co_await qdma::device::join(ctx, root.device);
  }

  const qdma::region data = d->allocate(size, qdma::rights::write);
  qdma::event arrived = d->make_event(1, true);
  const place here{data.id(), arrived.id()};
  if (me != 0) co_await world[(me - 1) / 2].send_value(place_tag, here);
  for (peer_id child = 2 * me + 1; child <= std::min(2 * me + 2, others); ++child) {
    const place there = co_await world[child].recv_value<place>(place_tag);
    co_await d->meet(there.memory.owner);
    arrived.on_trigger(
        qdma::rdma_write(data, 0, there.memory, 0, size).then(qdma::signal(there.arrived)));
  }
  if (me != 0) arrived.on_trigger(qdma::signal(root.has_it));
  co_await world.barrier();  // the tree is complete

  if (me == 0)
    co_await lead(*d, data, arrived, *all_have_it, others);
  else
    std::this_thread::sleep_for(nap);
  co_await world.barrier();
  if (std::ranges::count(data.bytes(), content(rounds - 1)) != std::ssize(data.bytes()))
    throw std::runtime_error(fmt::format("rank {} has wrong data", me));
}

}  // namespace

int main() {
  try {
    context ctx;
    if (ctx.world().size() < 2) throw std::runtime_error("it takes some: weft-run -n 7 tree");
    run(ctx, take_part(ctx));
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "tree: {}\n", e.what());
    return 1;
  }
}
