// SPDX-License-Identifier: Apache-2.0
// Jobs whose ranks meet at rank 0 over TCP, in one process.
#include <netinet/in.h>
#include <sys/socket.h>

#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <weft/error.hpp>

#include "net/address.hpp"
#include "net/socket.hpp"
#include "node.hpp"
#include "support/catch.hpp"
#include "wireup/bootstrap/launched_job.hpp"

namespace weft::wireup::test {

namespace {

/// A port that was free a moment ago.
std::uint16_t free_port() {
  const unique_fd fd =
      net::listen_on(*net::address::of_text("127.0.0.1"), net::takes::its_family, 1);
  return net::address::of_socket(fd.get(), false)->port();
}

struct place_to_meet {
  given_rank rank(peer_id number, peer_id size) const {
    return {starter::by_hand, number, size, {"127.0.0.1", port}};
  }
  std::future<std::unique_ptr<job>> enter(peer_id number, peer_id size) const {
    return std::async(std::launch::async,
                      [=, *this] { return met_job(rank(number, size), terms); });
  }
  std::vector<std::unique_ptr<job>> enter_all(peer_id size) const {
    std::vector<std::future<std::unique_ptr<job>>> coming;
    for (peer_id r = size; r-- != 0;) coming.push_back(enter(r, size));
    std::vector<std::unique_ptr<job>> all(size);
    for (auto& one : coming) {
      auto j = one.get();
      const peer_id r = j->rank();
      all[r] = std::move(j);
    }
    return all;
  }

  std::uint16_t port = free_port();
  launch_terms terms{job_key::random(), std::chrono::seconds(30)};
};

std::string failure_of(std::future<std::unique_ptr<job>> coming) {
  try {
    coming.get();
  } catch (const error& e) {
    return e.what();
  }
  return "it entered";
}

}  // namespace

TEST_CASE("ranks meet at rank 0, find each other, and hear who leaves") {
  const place_to_meet at;
  auto all = at.enter_all(5);
  for (const auto& one : all) {
    CHECK((one->size() == 5 && one->local_size() == 5 && one->per_host() == 5));
    CHECK(one->id() == all[0]->id());
    one->publish(socket_name_of({{one->rank() + 1, 0}}));
  }
  record<std::string> found;
  record<std::pair<peer_id, bool>> ends;
  all[1]->find(4, [&](std::string where) { found.add(std::move(where)); });
  CHECK(found.next() == socket_name_of({{5, 0}}));
  CHECK_THROWS_AS(all[1]->find(5, [](const std::string&) {}), error);
  all[1]->on_end([&](peer_id rank, bool died) { ends.add({rank, died}); });
  all[3].reset();
  CHECK(ends.next() == std::pair<peer_id, bool>{3, false});
  all[0].reset();
  CHECK(ends.next() == std::pair<peer_id, bool>{0, false});
  all[1]->find(4, [&](std::string where) { found.add(std::move(where)); });
  CHECK(found.next() == socket_name_of({{5, 0}}));
}

TEST_CASE("a process may be in one job after the other at the same place") {
  const place_to_meet at;
  for (int i = 0; i != 3; ++i) {
    const auto all = at.enter_all(3);
    CHECK(all[2]->size() == 3);
  }
}

TEST_CASE("rank 0 that ends at once leaves the others the directory") {
  const place_to_meet at;
  auto all = at.enter_all(3);
  const auto publish = [&](peer_id r) { all[r]->publish(socket_name_of({{r + 1, 0}})); };
  publish(0);
  std::thread ending([&] { all[0].reset(); });
  publish(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // rank 2 is slow
  publish(2);
  record<std::string> found;
  all[1]->find(2, [&](std::string where) { found.add(std::move(where)); });
  CHECK(found.next() == socket_name_of({{3, 0}}));
  ending.join();
}

TEST_CASE("rank 0 may come later than the others, and others than rank 0") {
  const place_to_meet at;
  auto one = at.enter(1, 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(100));  // it tries for a while
  auto zero = at.enter(0, 3), two = at.enter(2, 3);
  CHECK((one.get() && zero.get() && two.get()));
}

TEST_CASE("a rank without the key, or with another size, learns why it is refused") {
  place_to_meet at;
  at.terms.start_timeout = std::chrono::seconds(2);
  auto zero = at.enter(0, 3);
  place_to_meet other = at;
  other.terms.key = job_key::random();
  CHECK_THAT(failure_of(other.enter(1, 3)), weft::tests::contains("WEFT_JOB_KEY"));
  CHECK_THAT(failure_of(at.enter(1, 4)), weft::tests::contains("has 3 ranks"));
  CHECK_THAT(failure_of(std::move(zero)),
             weft::tests::contains("ranks 1 to 2 of 3 did not come within 2 s; ") &&
                 weft::tests::contains("was refused: the job at rank 0 has 3 ranks"));
  other.terms.key = {};
  CHECK_THAT(failure_of(other.enter(1, 3)), weft::tests::contains("openssl rand -hex 32"));
}

TEST_CASE("a rank says for how long it has waited for rank 0, and where") {
  place_to_meet at;
  at.terms.start_timeout = std::chrono::seconds(1);
  CHECK_THAT(failure_of(at.enter(1, 2)),
             weft::tests::contains("rank 1 of 2 (by hand)") &&
                 weft::tests::contains("after 1 s: cannot reach rank 0 at 127.0.0.1") &&
                 weft::tests::contains("nobody listens there"));
  const unique_fd taken =
      net::listen_on(net::address::of_ip(false, net::address::of_text("127.0.0.1")->ip(), at.port),
                     net::takes::its_family, 1);
  CHECK_THAT(failure_of(at.enter(0, 2)), weft::tests::contains("set WEFT_ROOT"));
}

}  // namespace weft::wireup::test
