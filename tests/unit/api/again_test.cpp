// SPDX-License-Identifier: Apache-2.0
// Two contexts that close their connection and make another one.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr peer_id first_number = peer_id{1} << 31;

std::size_t descriptors_in_use() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::string address_of(const std::string& name) {
  return "unix://weft-again-" + name + "-" + std::to_string(::getpid());
}

/// \param closes this side closes the connection, perhaps at the same time as the other one
task<void> talk_once(endpoint other, bool closes, std::vector<peer_id>& numbers) {
  numbers.push_back(other.id());
  std::byte out{7}, in{};
  scope both;
  both.start(other.send({&out, 1}, tag{1}));
  both.start(other.recv({&in, 1}, tag{1}));
  co_await both.join();
  if (closes) other.close();
  co_await within(30s, other.closed());
}

task<void> accept_all(listener& listening, int times, bool closes, std::vector<peer_id>& numbers) {
  for (int i = 0; i != times; ++i) {
    endpoint guest = co_await within(30s, listening.accept());
    co_await talk_once(guest, closes, numbers);
  }
}

task<void> connect_all(context& ctx, std::string to, int times, std::vector<peer_id>& numbers) {
  for (int i = 0; i != times; ++i) {
    endpoint host = co_await within(30s, ctx.connect(to));
    co_await talk_once(host, true, numbers);
  }
}

task<void> meet_all(context& ctx, std::string own, std::string other,
                    std::vector<peer_id>& numbers) {
  for (int i = 0; i != 3; ++i) {
    endpoint met = co_await within(30s, ctx.meet(own, other, "again"));
    co_await talk_once(met, own < other, numbers);
  }
}

options only(const std::string& transport, unsigned tcp_links = 1) {
  options chosen;
  chosen.transports = {transport};
  chosen.tcp_links = tcp_links;
  chosen.job_key = std::string(32, 'a');
  return chosen;
}

void reconnect(context& host, listener& listening, context& guest, int times, bool both_close,
               std::vector<peer_id>& at_host, std::vector<peer_id>& at_guest) {
  std::string failure;
  std::thread accepting([&] {
    try {
      run(host, accept_all(listening, times, both_close, at_host));
    } catch (const error& e) {
      failure = e.what();
    }
  });
  CHECK_NOTHROW(run(guest, connect_all(guest, listening.address(), times, at_guest)));
  accepting.join();
  CHECK(failure.empty());
}

}  // namespace

TEST_CASE("again: after a close the next connection has the next number, and carries messages") {
  const std::string transport = GENERATE("shm", "tcp");
  CAPTURE(transport);
  context host(only(transport)), guest(only(transport));
  listener listening = run(host, host.listen(address_of("listener")));
  std::vector<peer_id> at_host, at_guest;
  reconnect(host, listening, guest, 3, false, at_host, at_guest);
  CHECK(at_host == std::vector<peer_id>{first_number, first_number + 1, first_number + 2});
  CHECK(at_guest == at_host);
}

TEST_CASE("again: connections that were closed leave nothing open, whoever closed first") {
  const std::string transport = GENERATE("shm", "tcp", "shm+tcp");
  const unsigned links = transport == "tcp" ? GENERATE(1u, 2u) : 1u;
  const bool both_close = GENERATE(false, true);
  CAPTURE(transport, links, both_close);
  context host(only(transport, links)), guest(only(transport, links));
  listener listening = run(host, host.listen(address_of("leaves")));
  std::vector<peer_id> at_host, at_guest;
  reconnect(host, listening, guest, 5, both_close, at_host, at_guest);
  // Of the 50 connections none may leave a descriptor. A port of the transport tcp is opened with
  // the first offer of its side, which may come only now.
  constexpr std::size_t of_ports = 8;
  const std::size_t most = descriptors_in_use() + of_ports;
  reconnect(host, listening, guest, 50, both_close, at_host, at_guest);
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (descriptors_in_use() > most && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  CHECK(descriptors_in_use() <= most);
  CHECK(at_host.back() == first_number + 54);
}

TEST_CASE("again: two that have met and closed meet again") {
  context one, other;
  std::vector<peer_id> numbers, others;
  const std::string left = address_of("left"), right = address_of("right");
  std::thread there([&] { run(other, meet_all(other, right, left, others)); });
  CHECK_NOTHROW(run(one, meet_all(one, left, right, numbers)));
  there.join();
  CHECK(numbers == std::vector<peer_id>{first_number, first_number + 1, first_number + 2});
  CHECK(others == numbers);
}
