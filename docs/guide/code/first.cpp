// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <weft/weft.hpp>

constexpr weft::tag greeting{1};

weft::task<void> play(weft::context& ctx) {
  weft::group world = ctx.world();
  if (world.rank() != 0) {
    std::string words = "hello from rank " + std::to_string(world.rank());
    co_await world[0].send_value(greeting, words);
    co_return;
  }
  for (weft::peer_id r = 1; r != world.size(); ++r) {
    std::string words = co_await world[r].recv_value<std::string>(greeting);
    std::printf("%s\n", words.c_str());
  }
}

int main() { return weft::run_main(play); }
