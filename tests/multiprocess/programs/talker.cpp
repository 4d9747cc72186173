// SPDX-License-Identifier: Apache-2.0
// The other process of the tests that kill one:  talker <own address> <other address> <what it
// does>
#include <cstddef>
#include <iostream>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr tag to_survivor{1}, to_victim{2}, unused{4};

task<void> send_for_ever(endpoint other, std::size_t size) {
  const std::vector<std::byte> data(size, std::byte{7});
  for (;;) co_await other.send(data, to_survivor);
}

task<void> receive_for_ever(endpoint other, std::size_t size) {
  std::vector<std::byte> data(size);
  for (;;) co_await other.recv(data, to_victim);
}

/// Writes into the survivor's memory, while the survivor does the same here.
task<void> touch_for_ever(context& ctx, endpoint other, std::size_t size) {
  std::vector<std::byte> memory(size);
  const region mine(ctx, memory, rights::read_write);
  remote_region here = mine.remote(), there;
  co_await other.send(std::as_bytes(std::span(&here, 1)), to_survivor);
  co_await other.recv(std::as_writable_bytes(std::span(&there, 1)), to_victim);
  co_await other.signal(there, notify{});
  for (;;) co_await other.put(memory, there);
}

/// Keeps a remote channel full.
task<void> fill_for_ever(context& ctx, endpoint other) {
  remote_sender<std::vector<int>> to(ctx, other, 1, 8);
  for (int i = 0;; ++i) {
    std::vector<int> some(1000, i);
    co_await to.send(std::move(some));
  }
}

task<void> echo_until_closed(endpoint other) {
  std::vector<std::byte> data(100'000);
  for (;;) {
    const auto r = co_await as_result(other.recv(data, to_victim));
    if (r.code() == errc::closed) co_return;
    co_await other.send(data, to_survivor);
  }
}

task<void> play(context& ctx, std::string own, std::string other, std::string what) {
  const endpoint survivor = co_await ctx.meet(own, other, "multiprocess");
  constexpr std::size_t small = 8, large = 4u << 20;
  if (what == "leave") {
    co_await survivor.send(const_buffer{}, to_survivor);
    co_return;
  }
  if (what == "channel") co_return co_await fill_for_ever(ctx, survivor);
  if (what == "echo") co_return co_await echo_until_closed(survivor);
  scope all;
  if (what == "send-small" || what == "both-small") all.start(send_for_ever(survivor, small));
  if (what == "send-large" || what == "both-large") all.start(send_for_ever(survivor, large));
  if (what == "receive-small" || what == "both-small") all.start(receive_for_ever(survivor, small));
  if (what == "receive-large" || what == "both-large") all.start(receive_for_ever(survivor, large));
  if (what == "touch-small") all.start(touch_for_ever(ctx, survivor, small));
  if (what == "touch-large") all.start(touch_for_ever(ctx, survivor, large));
  if (what == "silence") {
    all.start(survivor.send(const_buffer{}, to_survivor));
    all.start(survivor.recv(mutable_buffer{}, unused));
  }
  co_await all.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::cerr << "usage: talker <own address> <other address> <what it does>\n";
    return 2;
  }
  try {
    context ctx;
    run(ctx, play(ctx, argv[1], argv[2], argv[3]));
  } catch (const error& e) {
    // The surviving peer has closed the connection: most of these tests end like this.
    return e.kind() == errc::closed ? 0 : 1;
  }
}
