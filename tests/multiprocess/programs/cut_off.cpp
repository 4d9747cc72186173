// SPDX-License-Identifier: Apache-2.0
// One of four ranks on two hosts:  cut_off <rank> <address of host 0> <address of host 1>
// Ranks 0 and 1 are on host 0. Each rank sends to all ranks; "ready" says that all have received
// from all. Then the test cuts the network. Ends well when both directions with both ranks of the
// other host have ended with peer_lost, and the neighbour on the same host has answered all the
// time.
#include <array>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr int ranks = 4;
constexpr tag chat{1};
constexpr std::size_t size = 100'000;
constexpr int rounds_until_ready = 10, rounds_after_the_loss = 100;

struct progress {
  int heard = 0;  // peers from which enough messages have come
  int lost = 0;   // directions that have ended
  bool as_promised = true;

  void hears_one() {
    if (++heard == ranks - 1) std::cout << "ready" << std::endl;
  }
  void ends(const error& e) {
    ++lost;
    if (e.kind() == errc::peer_lost) return;
    as_promised = false;
    std::cerr << "a direction ended otherwise: " << e.what() << '\n';
  }
};

task<void> send_until_lost(endpoint other, progress& p) {
  const std::vector<std::byte> data(size, std::byte{7});
  try {
    for (;;) co_await other.send(data, chat);
  } catch (const error& e) {
    p.ends(e);
  }
}

task<void> receive_until_lost(endpoint other, progress& p) {
  std::vector<std::byte> data(size);
  try {
    for (int round = 1;; ++round) {
      co_await other.recv(data, chat);
      if (round == rounds_until_ready) p.hears_one();
    }
  } catch (const error& e) {
    p.ends(e);
  }
}

/// In step with the neighbour, until both have lost all other ranks and have gone on for a while.
task<void> talk_on(endpoint neighbour, progress& p) {
  std::vector<std::byte> out(size), in(size);
  int since = 0;
  for (int round = 1;; ++round) {
    if (p.lost == 2 * (ranks - 2)) ++since;
    const bool enough = since >= rounds_after_the_loss;
    out[0] = std::byte{enough};
    scope both;
    both.start(neighbour.send(out, chat));
    both.start(neighbour.recv(in, chat));
    co_await both.join();
    if (round == rounds_until_ready) p.hears_one();
    if (enough && in[0] != std::byte{0}) co_return;
  }
}

task<void> play(context& ctx, int rank, std::array<std::string, 2> hosts) {
  const auto listening = [&](int whose, int for_whom) {
    return "tcp://" + hosts[static_cast<std::size_t>(whose / 2)] + ":" +
           std::to_string(7000 + 10 * whose + for_whom);
  };
  progress p;
  scope all;
  for (int other = 0; other != ranks; ++other) {
    if (other == rank) continue;
    const endpoint peer =
        co_await ctx.meet(listening(rank, other), listening(other, rank), "cut-off");
    if (other / 2 == rank / 2) {
      all.start(talk_on(peer, p));
    } else {
      all.start(send_until_lost(peer, p));
      all.start(receive_until_lost(peer, p));
    }
  }
  co_await all.join();
  if (!p.as_promised) throw error(errc::protocol_error, "not all ended with peer_lost");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: cut_off <rank> <address of host 0> <address of host 1>\n";
    return 2;
  }
  try {
    context ctx;
    run(ctx, play(ctx, std::stoi(argv[1]), {argv[2], argv[3]}));
    std::cout << "as promised" << std::endl;
  } catch (const std::exception& e) {
    std::cerr << "rank " << argv[1] << ": " << e.what() << '\n';
    return 1;
  }
}
