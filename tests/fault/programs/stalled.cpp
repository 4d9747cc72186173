// SPDX-License-Identifier: Apache-2.0
// Rank 0 of two sends in many coroutines at once, far more than sockets and budgets hold; rank 1
// receives when the board says so (`please_end`), and looks at every byte.
//   weft-run -n 2 stalled FD          FD: the board; `received` counts what was sent on rank 0

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "../../support/pattern.hpp"
#include "../board.hpp"

namespace {

using namespace weft;
using tests::bytes;

constexpr std::uint64_t streams = 48;
constexpr std::uint32_t messages = 12;
constexpr std::array<std::size_t, 3> sizes{64, 5000, 2'000'000};
constexpr tag bye{1000};

std::size_t size_of(std::uint64_t stream) { return sizes[stream % sizes.size()]; }

void fill(bytes& b, std::uint64_t stream, std::uint32_t number) {
  std::memset(b.data(), static_cast<std::uint8_t>(stream * 7 + number), b.size());
  std::memcpy(b.data(), &number, sizeof number);
}

task<void> send(endpoint to, std::uint64_t stream, fault::rank_notes& own) {
  bytes out(size_of(stream));
  for (std::uint32_t number = 0; number != messages; ++number) {
    fill(out, stream, number);
    co_await to.send(out, tag{stream});
    ++own.received[1];
  }
}

task<void> receive(endpoint from, std::uint64_t stream, fault::rank_notes& own) {
  bytes in(size_of(stream)), expected(in.size());
  for (std::uint32_t number = 0; number != messages; ++number) {
    const received got = co_await from.recv(in, tag{stream});
    fill(expected, stream, number);
    if (got.size != in.size() || in != expected) {
      std::cerr << "stalled: message " << number << " of stream " << stream << " is wrong\n";
      std::_Exit(1);
    }
    ++own.received[0];
  }
}

task<void> play(context& ctx, fault::board& b) {
  const peer_id me = ctx.world().rank();
  const endpoint other = ctx.world()[1 - me];
  fault::rank_notes& own = b.rank[me];
  // Connects to the receiver first, and keeps it until the end.
  if (me == 0) co_await other.send(const_buffer{}, bye);
  if (me == 1) co_await other.recv(mutable_buffer{}, bye);
  own.began = fault::now();
  while (me == 1 && b.please_end == 0) co_await sleep_for(std::chrono::milliseconds(1));
  scope all;
  for (std::uint64_t s = 0; s != streams; ++s)
    all.start(me == 0 ? send(other, s, own) : receive(other, s, own));
  co_await all.join();
  if (me == 0) co_await other.recv(mutable_buffer{}, bye);
  if (me == 1) co_await other.send(const_buffer{}, bye);
  own.ended_well = 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: stalled <descriptor of the board>\n";
    return 2;
  }
  try {
    fault::board& b = *fault::map_board(std::stoi(argv[1]));
    context ctx;
    run(ctx, play(ctx, b));
  } catch (const std::exception& e) {
    std::cerr << "stalled: " << e.what() << std::endl;
    return 1;
  }
}
