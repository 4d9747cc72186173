// SPDX-License-Identifier: Apache-2.0
// A rank of a job under test: it exchanges messages of three sizes with all others and writes what
// it sees onto a board.
//   weft-run -n 4 traffic FD [N]      FD: the board; N: how many messages until this rank leaves
//
// A rank leaves when it has N messages, when the board asks for it, when another rank leaves, or
// when it has lost another rank. Then its next message on each stream says "the last one", and it
// ends when it has the last message of each other rank. So a rank that notices a death shows that
// it goes on with the other ranks, in order, to the end.

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "../../support/pattern.hpp"
#include "../board.hpp"

namespace {

using namespace weft;
using tests::bytes;

constexpr std::array<std::size_t, 3> sizes{8, 3000, 300'000};
constexpr tag never{1000};

struct head {
  std::uint32_t number;
  std::uint32_t last;
};

/// The content that sender and receiver know.
void fill(bytes& b, peer_id from, head h) {
  std::memset(b.data(), static_cast<std::uint8_t>(from * 50 + h.number), b.size());
  std::memcpy(b.data(), &h, sizeof h);
}

/// The job is in a wrong state: ends the process, so that no rank waits for it for ever.
[[noreturn]] void wrong(const std::string& what) {
  std::cerr << "traffic: " << what << std::endl;
  std::_Exit(1);
}

class traffic {
 public:
  traffic(context& ctx, fault::board& b, std::uint64_t enough)
      : world_(ctx.world()), board_(b), own_(b.rank.at(world_.rank())), enough_(enough) {}

  task<void> run() {
    std::stop_source done;
    scope watches, streams;
    for (peer_id other = 0; other < world_.size(); ++other) {
      if (other == world_.rank()) continue;
      watches.start(watch(other, done.get_token()));
      for (const std::size_t size : sizes) {
        streams.start(send(other, size));
        streams.start(receive(other, size));
      }
    }
    own_.began = fault::now();
    co_await streams.join();
    while (board_.please_stay != 0) co_await sleep_for(std::chrono::milliseconds(1));
    done.request_stop();
    co_await watches.join();
  }

 private:
  bool leaving() const { return lost_ || left_ || received_ >= enough_ || board_.please_end != 0; }

  void failed(peer_id other, const error& why, const char* what) {
    if (why.kind() != errc::peer_lost)
      wrong(std::string(what) + " rank " + std::to_string(other) +
            " failed otherwise: " + why.what());
    if (own_.lost[other] == 0) own_.lost[other] = fault::now();
    lost_ = true;
  }

  /// Waits for a message that never comes: the receive ends when the other rank does.
  task<void> watch(peer_id other, std::stop_token stop) {
    bytes in(8);
    const auto r = co_await as_result(stoppable(stop, world_[other].recv(in, never)));
    // A rank that left in good order, after its last messages, has closed.
    if (r.code() != errc::stopped && r.code() != errc::closed)
      failed(other, r.failure(), "a receive from");
  }

  task<void> send(peer_id other, std::size_t size) {
    bytes out(size);
    for (head h{0, 0}; h.last == 0; ++h.number) {
      h.last = leaving();
      fill(out, world_.rank(), h);
      const bool wait = h.number % 8 == 7;
      const auto r = co_await as_result(wait ? world_[other].send_synchronous(out, tag{size})
                                             : world_[other].send(out, tag{size}));
      if (!r) co_return failed(other, r.failure(), "a send to");
    }
  }

  task<void> receive(peer_id other, std::size_t size) {
    bytes in(size), expected(size);
    for (std::uint32_t number = 0;; ++number) {
      const auto r = co_await as_result(world_[other].recv(in, tag{size}));
      if (!r) co_return failed(other, r.failure(), "a receive from");
      head h{};
      std::memcpy(&h, in.data(), sizeof h);
      fill(expected, other, {number, h.last});
      if (in != expected) wrong("a wrong message from rank " + std::to_string(other));
      // A message of this size used both directions, so their transports are known by now.
      if (world_.rank() == 0 && number == 0 && size == sizes.back())
        std::cout << "peer " << other << ": " << world_[other].describe() << '\n';
      ++own_.received[other];
      ++received_;
      if (h.last == 0) continue;
      left_ = true;
      co_return;
    }
  }

  group world_;
  fault::board& board_;
  fault::rank_notes& own_;
  const std::uint64_t enough_;
  std::uint64_t received_ = 0;
  bool lost_ = false;  // a death was noticed
  bool left_ = false;  // another rank leaves
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: traffic <descriptor of the board> [messages]\n";
    return 2;
  }
  try {
    fault::board& b = *fault::map_board(std::stoi(argv[1]));
    const std::uint64_t enough =
        argc > 2 ? std::stoull(argv[2]) : std::numeric_limits<std::uint64_t>::max();
    peer_id rank = 0;
    {
      context ctx;
      rank = ctx.world().rank();
      if (rank == 0) std::cout << ctx.describe();
      traffic all(ctx, b, enough);
      run(ctx, all.run());
    }
    b.rank.at(rank).ended_well = 1;
  } catch (const std::exception& e) {
    std::cerr << "traffic: " << e.what() << std::endl;
    return 1;
  }
}
