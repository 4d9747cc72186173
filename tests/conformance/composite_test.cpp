// SPDX-License-Identifier: Apache-2.0
// Two transports to one peer, over which one message is striped.
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "conversation.hpp"
#include "support/catch.hpp"
#include "support/parts.hpp"
#include "support/skip.hpp"

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
  expect(m.striped_bytes_other_links > 0, "the second link carries a part");
  expect(m.striped_bytes > m.striped_bytes_other_links, "the first link carries a part");
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

constexpr std::size_t mixed_sizes[] = {1'000'000, 8, 60'000, 100'000, 0, 2'000'003, 60'001, 500};

/// \tparam far those above 60,000 bytes leave by the second link
template <bool far>
task<void> send_by_size(context& here, endpoint other) {
  for (int round = 0; round != 3; ++round) {
    weft::scope all;
    std::vector<bytes> out;
    for (const std::size_t size : mixed_sizes) out.push_back(pattern(size, size));
    for (const bytes& one : out) all.start(other.send(one, weft::tag{1}));
    co_await all.join();
  }
  const weft::metrics m = here.snapshot();
  expect(m.striped_bytes > 0, "long messages went in fragments");
  expect(far == (m.striped_bytes_other_links > 0), "the limit chooses the link");
}

task<void> receive_by_size(context&, endpoint other) {
  for (int round = 0; round != 3; ++round)
    for (const std::size_t size : mixed_sizes) {
      bytes into(size);
      co_await other.recv(into, weft::tag{1});
      expect(into == pattern(size, size), "what was sent arrives, in its turn");
    }
}

task<void> exchange(context& here, std::string own, std::string other, std::string& way) {
  endpoint there = co_await here.meet(own, other, "two ways");
  const bytes out = pattern(1'000'000, 1);
  bytes in(out.size());
  weft::scope both;
  both.start(there.send(out, weft::tag{1}));
  both.start(there.recv(in, weft::tag{1}));
  co_await both.join();
  expect(in == out, "what was sent arrives");
  way = there.describe();
  // Neither side leaves before the other has checked, too.
  co_await there.send(weft::const_buffer{}, weft::tag{2});
  co_await there.recv(weft::mutable_buffer{}, weft::tag{2});
}

}  // namespace

TEST_CASE("conformance: one message is striped over two transports") {
  const char* const only = std::getenv("WEFT_TEST_TRANSPORT");
  const bool in_guest = only && std::string_view(only).starts_with("verbs");
  const place where = WEFT_TEST_RACES ? place::same_process : place::two_processes;
  const setting how{
      .name = "two transports", .where = where, .transport = in_guest ? "verbs+tcp" : "shm+tcp"};
  converse(how, send_striped, receive_striped);
}

TEST_CASE("conformance: long messages leave shared memory above a limit, and keep their order") {
  if (std::getenv("WEFT_TEST_TRANSPORT")) return;  // it is about shared memory and another one
  const bool far = GENERATE(true, false);
  const setting how{.name = "shm up to a limit, then tcp",
                    .where = WEFT_TEST_RACES ? place::same_process : place::two_processes,
                    .transport = "shm+tcp",
                    .shm_limit = far ? std::size_t{60'000} : std::size_t{1} << 30};
  converse(how, far ? send_by_size<true> : send_by_size<false>, receive_by_size);
}

// The links of the composite transport were offered, and refused one after the other.
TEST_CASE(
    "conformance: several links of another transport, where a composite one is not to be had") {
  if (!weft::tests::has_part("verbs")) return weft::tests::skip("built without verbs");
  const std::string left = "unix://weft-ways-" + std::to_string(::getpid()),
                    right = left + "-right";
  weft::options has_all, has_no_device;
  has_all.transports = {"self", "shm+tcp", "tcp"};
  has_no_device.transports = {"self", "verbs+tcp", "tcp"};
  has_no_device.verbs_device = "none";
  has_all.tcp_links = has_no_device.tcp_links = 2;
  std::string way_there, way_back;
  std::exception_ptr failure;
  std::thread second([&] {
    try {
      context there(has_no_device);
      weft::run(there, exchange(there, right, left, way_back));
    } catch (...) {
      failure = std::current_exception();
    }
  });
  context here(has_all);
  CHECK_NOTHROW(weft::run(here, exchange(here, left, right, way_there)));
  second.join();
  CHECK_NOTHROW(failure ? std::rethrow_exception(failure) : void());
  for (const std::string& way : {way_there, way_back})
    CHECK_THAT(way, weft::tests::starts_with("2 links: tcp"));
}
