// SPDX-License-Identifier: Apache-2.0
// Contexts that connect by context addresses alone.

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weft/context_address.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;

namespace {

options alone(const std::string& transport) {
  options o;
  o.standalone = true;
  o.transports = {"self", transport};
  o.peer_timeout = std::chrono::seconds(2);
  return o;
}

std::span<const std::byte> bytes_of(const int& n) { return std::as_bytes(std::span(&n, 1)); }
std::span<std::byte> bytes_of(int& n) { return std::as_writable_bytes(std::span(&n, 1)); }

/// Sends to all peers at once, and receives from all.
task<int> exchange(std::vector<endpoint>& others, int mine) {
  std::vector<int> theirs(others.size());
  scope all;
  for (std::size_t i = 0; i != others.size(); ++i) {
    all.start(others[i].recv(bytes_of(theirs[i]), tag{1}));
    all.start(others[i].send(bytes_of(mine), tag{1}));
  }
  co_await all.join();
  int sum = 0;
  for (const int n : theirs) sum += n;
  co_return sum;
}

errc failure(context& at, const endpoint& to) {
  const int n = 1;
  const auto send = [&]() -> task<errc> {
    co_return (co_await as_result(to.send_synchronous(bytes_of(n), tag{1}))).code();
  };
  return run(at, send());
}

}  // namespace

TEST_CASE("contact: contexts that know each other's contacts are one peer each, whoever begins") {
  const std::string transport = GENERATE("shm", "tcp");
  CAPTURE(transport);
  constexpr std::size_t count = 4;
  std::vector<std::unique_ptr<context>> contexts;
  std::vector<context_address> contacts;
  for (std::size_t i = 0; i != count; ++i) {
    contexts.push_back(std::make_unique<context>(alone(transport)));
    contacts.push_back(context_address_of(*contexts.back()));
  }
  std::vector<int> sums(count);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i != count; ++i)
    threads.emplace_back([&, i] {
      context& here = *contexts[i];
      std::vector<endpoint> others;
      for (const context_address& c : contacts) others.push_back(peer_at(here, c));
      for (int round = 0; round != 20; ++round)
        sums[i] += run(here, exchange(others, static_cast<int>(i) + 1));
    });
  for (std::thread& t : threads) t.join();
  // The context itself is one of the peers.
  for (std::size_t i = 0; i != count; ++i) CHECK(sums[i] == 20 * (1 + 2 + 3 + 4));
  for (std::size_t i = 0; i != count; ++i) {
    CHECK(peer_at(*contexts[i], contacts[i]).id() == 0);
    for (std::size_t j = 0; j != count; ++j) {
      const endpoint once = peer_at(*contexts[i], contacts[j]);
      CHECK(once == peer_at(*contexts[i], contacts[j]));
    }
  }
}

TEST_CASE("contact: whoever has gone cannot be reached, and that is told") {
  const std::string transport = GENERATE("shm", "tcp");
  context here(alone(transport));
  context_address gone;
  {
    const context there(alone(transport));
    gone = context_address_of(there);
  }
  CHECK(failure(here, peer_at(here, gone)) == errc::peer_lost);
}

TEST_CASE("contact: over TCP whoever has the wrong secret stays outside") {
  context here(alone("tcp")), there(alone("tcp"));
  context_address wrong = context_address_of(there);
  wrong.bytes[24] ^= std::byte{1};  // the key begins there; the Unix socket requires none
  wrong.bytes[8] ^= std::byte{1};   // the context's id, so that its Unix socket is not found
  CHECK(failure(here, peer_at(here, wrong)) != errc::ok);
}

TEST_CASE("contact: what is none is refused") {
  context here(alone("shm"));
  CHECK_FALSE(is_context_address({}));
  CHECK_THROWS_AS(peer_at(here, {}), error);
  const context_address good = context_address_of(here);
  CHECK(is_context_address(good));
  for (const std::size_t i : {0u, 3u, 4u, 5u}) {
    context_address bad = good;
    bad.bytes[i] = std::byte{0x55};
    CHECK_FALSE(is_context_address(bad));
  }
  std::string secret;
  for (std::size_t i = 24; i != 40; ++i) {
    char two[3];
    std::snprintf(two, sizeof two, "%02x", static_cast<unsigned>(good.bytes[i]));
    secret += two;
  }
  CHECK(describe(good).find(secret) == std::string::npos);

  options of_a_job;
  const context other(of_a_job);
  CHECK_THROWS_AS(context_address_of(other), error);
}
