// SPDX-License-Identifier: Apache-2.0
// Other contexts connect to a context and part from it: nothing of them is left.
#include <malloc.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/descriptors.hpp"

// With sanitizers, which have their own heap.
// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): theirs
extern "C" [[gnu::weak]] std::size_t __sanitizer_get_current_allocated_bytes();

using namespace weft;
using weft::tests::open_descriptors;

namespace {

std::size_t bytes_in_use() {
  if (__sanitizer_get_current_allocated_bytes) return __sanitizer_get_current_allocated_bytes();
  const struct mallinfo2 heap = ::mallinfo2();
  return heap.uordblks + heap.hblkhd;
}

/// Accepts so many requesters; each sends a message, receives it again, and leaves.
task<void> receive(listener& listening, int how_many) {
  std::byte word{};
  for (int i = 0; i != how_many; ++i) {
    endpoint guest = co_await listening.accept();
    co_await guest.recv({&word, 1}, tag{1});
    co_await guest.send({&word, 1}, tag{1});
    co_await guest.closed();
  }
}

task<void> visit(context& ctx, const std::string& address) {
  endpoint host = co_await ctx.connect(address);
  std::byte word{7};
  co_await host.send({&word, 1}, tag{1});
  co_await host.recv({&word, 1}, tag{1});
}

void pass_by(context& host, listener& listening, const options& chosen, int how_many) {
  std::thread receiver([&] { run(host, receive(listening, how_many)); });
  for (int i = 0; i != how_many; ++i) {
    context guest(chosen);
    run(guest, visit(guest, listening.address()));
  }
  receiver.join();
}

}  // namespace

TEST_CASE("passers-by: a context keeps nothing of peers that have gone") {
  const std::string transport = GENERATE("shm", "tcp");
  CAPTURE(transport);
  options chosen;
  chosen.transports = {transport};
  chosen.job_key = std::string(32, 'a');
  context host(chosen);
  listener listening =
      run(host, host.listen("unix://weft-passers-by-" + std::to_string(::getpid())));
  constexpr int many = 150;
  // Bytes; a peer has more than 1000, and some 30 peers that have gone wait to be reused.
  constexpr std::size_t for_each = 100, noise = 40 * 1024;
  pass_by(host, listening, chosen, many);
  const std::size_t bytes_before = bytes_in_use(), open_before = open_descriptors();
  pass_by(host, listening, chosen, many);
  const std::size_t bytes_after = bytes_in_use();
  CAPTURE(bytes_before, bytes_after);
  CHECK(bytes_after <= bytes_before + many * for_each + noise);
  // The last ones may be closed a moment later.
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (open_descriptors() > open_before && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(open_descriptors() <= open_before);
}

TEST_CASE("passers-by: a number that nobody has had is no peer's, and the error names it") {
  context ctx;
  for (const peer_id number : {peer_id{1} << 31, no_peer}) try {
      ctx.peer(number);
      FAIL("there is an endpoint for " << number);
    } catch (const error& e) {
      CHECK(e.kind() == errc::invalid_argument);
      CHECK_THAT(e.what(), weft::tests::contains(std::to_string(number)));
    }
}
