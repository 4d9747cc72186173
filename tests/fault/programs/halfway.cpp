// SPDX-License-Identifier: Apache-2.0
// One of two processes that exchange a long message.
//   halfway ADDRESS send      sends it, and then waits for the other one's end
//   halfway ADDRESS receive   receives it, and dies as soon as the first byte is there
// ADDRESS is the other process's listener. `size` bytes, each `content`.
#include <signal.h>
#include <unistd.h>

#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "../halfway.hpp"

namespace {

using namespace weft;

task<void> send(context& ctx, std::string address) {
  const std::vector<std::byte> data(fault::halfway::size, fault::halfway::content);
  endpoint there = co_await ctx.connect(address);
  static_cast<void>(co_await as_result(there.send(data, fault::halfway::the_message)));
  co_await there.closed();
}

task<void> receive(context& ctx, std::string address) {
  std::vector<std::byte> data(fault::halfway::size);
  std::thread([&data] {
    fault::halfway::wait_for_first_byte(data, {});
    ::kill(::getpid(), SIGKILL);
  }).detach();
  endpoint there = co_await ctx.connect(address);
  static_cast<void>(co_await as_result(there.recv(data, fault::halfway::the_message)));
  co_await there.closed();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: halfway ADDRESS send|receive\n";
    return 2;
  }
  try {
    context ctx;
    run(ctx, argv[2] == std::string("send") ? send(ctx, argv[1]) : receive(ctx, argv[1]));
    return 0;
  } catch (const std::exception& e) {
    std::cerr << "halfway: " << e.what() << '\n';
    return 1;
  }
}
