// SPDX-License-Identifier: Apache-2.0
// Two transports to one peer, over which one message is striped.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <string_view>

#include "conversation.hpp"

using namespace conformance;
using weft::context;
using weft::endpoint;
using weft::task;

namespace {

constexpr std::size_t striped_sizes[] = {8, 100'000, 4'000'003, 4'000'003};

task<void> send_striped(context& here, endpoint other) {
  for (const std::size_t size : striped_sizes)
    co_await other.send(pattern(size, size), weft::tag{size});
  const weft::metrics m = here.snapshot();
  expect(m.striped_bytes_beside > 0, "the second link carries a part");
  expect(m.striped_bytes > m.striped_bytes_beside, "the first link carries a part");
  expect(m.striped_bytes <= m.bytes_sent, "nothing is counted twice");
  expect(m.links_lost == 0, "both links are there");
}

task<void> receive_striped(context&, endpoint other) {
  for (const std::size_t size : striped_sizes) {
    bytes into(size);
    co_await other.recv(into, weft::tag{size});
    expect(into == pattern(size, size), "what was sent arrives");
  }
}

}  // namespace

TEST_CASE("conformance: one message is striped over two transports") {
  const char* const only = std::getenv("WEFT_TEST_TRANSPORT");
  const bool in_guest = only && std::string_view(only) == "verbs";
  const place where = WEFT_TEST_ONE_PROCESS ? place::same_process : place::two_processes;
  const setting how{
      .name = "two transports", .where = where, .transport = in_guest ? "verbs+tcp" : "shm+tcp"};
  converse(how, send_striped, receive_striped);
}
