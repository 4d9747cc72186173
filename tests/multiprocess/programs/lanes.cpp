// SPDX-License-Identifier: Apache-2.0
// Ranks whose lanes all talk, with a thread for each lane; rank r has r + 1 lanes.
//   weft-run -n 3 lanes all      every lane of every rank with every other one
//   weft-run -n 3 lanes mortal   rank 1 kills itself, and every lane of the others learns of it
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/expect.hpp"

namespace {

using namespace weft;
using tests::expect;

constexpr std::uint64_t count = 50;

unsigned lanes_of(peer_id rank) { return rank + 1; }

task<void> send_all(context& lane, endpoint to) {
  for (std::uint64_t n = 0; n != count; ++n) {
    const std::array<std::uint64_t, 3> out{lane.world().rank(), lane.lane_number(), n};
    co_await to.send(std::as_bytes(std::span(out)), tag{1});
  }
}

task<void> receive_all(endpoint from) {
  for (std::uint64_t n = 0; n != count; ++n) {
    std::array<std::uint64_t, 3> in{};
    const received got = co_await from.recv(std::as_writable_bytes(std::span(in)), tag{1});
    expect(got.source == from.id(), "a message tells its source");
    expect(in == std::array<std::uint64_t, 3>{from.rank(), from.lane_number(), n},
           "each lane gets what was sent to it, in order");
  }
}

task<void> all(context& lane) {
  const group world = lane.world();
  scope work;
  for (peer_id r = 0; r != world.size(); ++r)
    for (unsigned j = 0; j != lanes_of(r); ++j) {
      work.start(send_all(lane, world[r].lane(j)));
      work.start(receive_all(world[r].lane(j)));
    }
  co_await work.join();
  if (world.rank() == 0) {
    const auto missing = co_await as_result(world[1].lane(2).send(const_buffer{}, tag{2}));
    expect(missing.code() == errc::invalid_argument, "rank 1 has no lane 2");
  }
  // Every rank has lane 0, and only there all of them meet.
  if (lane.lane_number() == 0) co_await world.barrier();
}

task<void> mortal(context& lane) {
  const group world = lane.world();
  std::byte none[1];
  scope hellos;
  for (peer_id r = 0; r != world.size(); ++r)
    for (unsigned j = 0; j != lanes_of(r); ++j) {
      hellos.start(world[r].lane(j).send(const_buffer{}, tag{1}));
      hellos.start(world[r].lane(j).recv(mutable_buffer{}, tag{1}));
    }
  co_await hellos.join();
  if (world.rank() == 1) {
    // Not before its other lane has said hello, too.
    const endpoint sibling = world[1].lane(1 - lane.lane_number());
    co_await sibling.send(const_buffer{}, tag{2});
    co_await sibling.recv(mutable_buffer{}, tag{2});
    ::kill(::getpid(), SIGKILL);
  }
  for (unsigned j = 0; j != lanes_of(1); ++j) {
    const auto end = co_await as_result(world[1].lane(j).recv(none, tag{3}));
    std::ostringstream line;
    line << "rank " << world.rank() << " lane " << lane.lane_number() << " knows of lane " << j
         << (end.code() == errc::peer_lost ? " lost\n" : " something else\n");
    std::cout << line.str() << std::flush;
  }
  // The others are well, and no lane leaves before they have talked.
  const endpoint other = world[2 - world.rank()].lane(0);
  if (lane.lane_number() != 0) co_return;
  co_await other.send(const_buffer{}, tag{4});
  co_await other.recv(mutable_buffer{}, tag{4});
}

}  // namespace

int main(int, char** arguments) {
  options o = options::from_environment();
  o.lanes = lanes_of(static_cast<peer_id>(std::stoul(std::getenv("WEFT_RANK"))));
  context ctx(o);
  const bool dies = std::string(arguments[1]) == "mortal";
  std::vector<std::thread> threads;
  for (unsigned i = 0; i != ctx.lanes(); ++i)
    threads.emplace_back(
        [&lane = ctx.lane(i), dies] { run(lane, dies ? mortal(lane) : all(lane)); });
  for (std::thread& t : threads) t.join();
}
