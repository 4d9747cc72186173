// SPDX-License-Identifier: Apache-2.0
// The job's directory and its clients, in one process.
#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <thread>
#include <weft/error.hpp>

#include "node.hpp"
#include "support/catch.hpp"
#include "wireup/bootstrap/launched_job.hpp"
#include "wireup/job/even_hosts.hpp"
#include "wireup/job/job.hpp"
#include "wireup/job/job_directory.hpp"
#include "wireup/job/job_wire.hpp"

namespace weft::wireup::test {

namespace {

/// Sets environment variables while it lives.
class environment {
 public:
  environment() = default;
  ~environment() {
    for (const char* name : {"WEFT_RANK", "WEFT_SIZE", "WEFT_LOCAL_SIZE", "WEFT_JOB"})
      ::unsetenv(name);
  }
  environment& set(const char* name, const std::string& value) {
    ::setenv(name, value.c_str(), 1);
    return *this;
  }
};

std::unique_ptr<job> join(const job_directory& directory, peer_id rank, peer_id size) {
  environment e;
  e.set("WEFT_RANK", std::to_string(rank))
      .set("WEFT_SIZE", std::to_string(size))
      .set("WEFT_LOCAL_SIZE", std::to_string(size))
      .set("WEFT_JOB", directory.environment());
  return launched_job();
}

errc kind_of_failure() {
  try {
    launched_job();
  } catch (const error& e) {
    return e.kind();
  }
  return errc::ok;
}

auto into(record<std::string>& r) {
  return [&r](std::string text) { r.add(std::move(text)); };
}

}  // namespace

TEST_CASE("how many ranks each host has, if all have as many next to each other") {
  CHECK(ranks_of_each_host({}) == 0);
  CHECK(ranks_of_each_host({7}) == 1);
  CHECK(ranks_of_each_host({7, 7, 7}) == 3);
  CHECK(ranks_of_each_host({4, 2, 9}) == 1);
  CHECK(ranks_of_each_host({4, 4, 2, 2}) == 2);
  CHECK(ranks_of_each_host({4, 4, 2}) == 0);
  CHECK(ranks_of_each_host({4, 2, 2, 2}) == 0);
  CHECK(ranks_of_each_host({4, 2, 4, 2}) == 0);
  CHECK(ranks_of_each_host({4, 4, 2, 2, 4, 4}) == 0);
  CHECK(ranks_of_each_host({4, 4, 2, 3}) == 0);
}

TEST_CASE("ranks find each other, before and after they publish") {
  job_directory directory(2);
  record<std::string> at_0, at_1;
  const auto zero = join(directory, 0, 2);
  const auto one = join(directory, 1, 2);
  CHECK(zero->rank() == 0);
  CHECK(one->rank() == 1);
  CHECK(one->size() == 2);
  CHECK(one->local_size() == 2);
  CHECK(zero->id() == one->id());
  CHECK(zero->id() != context_id{});

  zero->find(1, into(at_0));
  zero->find(1, into(at_0));
  const std::string place_0 = random_socket_name(), place_1 = random_socket_name();
  zero->publish(place_0);
  one->publish(place_1);
  CHECK(at_0.next() == place_1);
  CHECK(at_0.next() == place_1);
  one->find(0, into(at_1));
  CHECK(at_1.next() == place_0);
  one->find(1, into(at_1));
  CHECK(at_1.next() == place_1);
  CHECK_THROWS_AS(one->find(2, into(at_1)), error);
}

TEST_CASE("all hear of a rank that ends, also those that come later; who looks for it is told") {
  job_directory directory(3);
  record<std::string> found;
  record<std::pair<peer_id, bool>> ends, late_ends;
  auto zero = join(directory, 0, 3);
  zero->find(1, into(found));
  zero->find(2, into(found));
  zero->on_end([&](peer_id rank, bool died) { ends.add({rank, died}); });
  directory.ended(1, true);
  CHECK(found.next().empty());
  CHECK(ends.next() == std::pair<peer_id, bool>{1, true});
  directory.ended(2, false);
  CHECK(found.next().empty());
  CHECK(ends.next() == std::pair<peer_id, bool>{2, false});
  zero->find(1, into(found));
  CHECK(found.next().empty());

  zero.reset();
  const auto late = join(directory, 0, 3);
  late->on_end([&](peer_id rank, bool died) { late_ends.add({rank, died}); });
  CHECK(late_ends.next() == std::pair<peer_id, bool>{1, true});
  CHECK(late_ends.next() == std::pair<peer_id, bool>{2, false});
}

TEST_CASE("a rank is one context at a time, and the next one takes its place") {
  job_directory directory(2);
  auto first = join(directory, 1, 2);
  try {
    join(directory, 1, 2);
    FAIL("there are two");
  } catch (const error& e) {
    CHECK(e.kind() == errc::invalid_argument);
    CHECK_THAT(e.what(),
               weft::tests::contains("rank 1") && weft::tests::contains("options::standalone"));
  }
  CHECK(join(directory, 0, 2));
  first.reset();
  for (int i = 0; i < 50; ++i) CHECK(join(directory, 1, 2));
}

TEST_CASE("a rank that is started again is sent to rank 0, if it was lost and rank 0 is there") {
  job_directory directory(4);
  const auto why_not = [&](peer_id rank) {
    try {
      join(directory, rank, 4);
      return std::string("it entered");
    } catch (const error& e) {
      return std::string(e.what());
    }
  };
  const auto zero = join(directory, 0, 4);
  directory.ended(1, true);
  directory.ended(2, false);
  CHECK_THAT(why_not(2), weft::tests::contains("ended in good order"));
  // It waits until rank 0 has a context; here no process listens there.
  auto early = std::async(std::launch::async, [&] { return why_not(1); });
  zero->publish(random_socket_name());
  CHECK_THAT(early.get(), weft::tests::contains("cannot take its place"));
  directory.ended(0, true);
  CHECK_THAT(why_not(1), weft::tests::contains("has ended; start the job again"));
}

TEST_CASE("who looks for a rank whose program has ended is told of the next one") {
  job_directory directory(2);
  record<std::string> found;
  const auto zero = join(directory, 0, 2);
  const std::string first = random_socket_name(), second = random_socket_name();
  {
    const auto one = join(directory, 1, 2);
    one->publish(first);
    zero->find(1, into(found));
    CHECK(found.next() == first);
    zero->find_next(1, first, into(found));  // rank 1 has left that place, though it is still known
  }
  {
    const auto one = join(directory, 1, 2);
    one->publish(second);
    CHECK(found.next() == second);
    zero->find_next(1, first, into(found));
    CHECK(found.next() == second);
  }
  zero->find_next(1, second, into(found));
  directory.ended(1, false);
  CHECK(found.next().empty());
}

TEST_CASE("who waits is answered when its side or the launcher goes") {
  auto directory = std::make_optional<job_directory>(peer_id{2});
  record<std::string> found;
  auto zero = join(*directory, 0, 2);
  auto one = join(*directory, 1, 2);
  zero->find(1, into(found));
  zero.reset();
  CHECK(found.next().empty());
  one->find(0, into(found));
  directory.reset();
  CHECK(found.next().empty());
  one->find(0, into(found));
  CHECK(found.next().empty());
}

TEST_CASE("without a launcher there is no job; contradictions are named") {
  CHECK_FALSE(launched_job());
  {
    environment e;
    e.set("WEFT_RANK", "0");
    CHECK(kind_of_failure() == errc::invalid_argument);
    e.set("WEFT_SIZE", "2").set("WEFT_LOCAL_SIZE", "2").set("WEFT_JOB", "nonsense");
    CHECK(kind_of_failure() == errc::invalid_argument);
    e.set("WEFT_JOB", random_socket_name() + "/" + to_text(random_id()));
    CHECK(kind_of_failure() == errc::unreachable);
  }
  job_directory directory(2);
  for (const auto& [rank, size, local] : {std::array{"2", "2", "2"},
                                          {"0", "0", "0"},
                                          {"x", "2", "2"},
                                          {"0", "3", "3"},
                                          {"0", "2", "3"},
                                          {"0", "2", "0"},
                                          {"-1", "2", "2"},
                                          {"0", "", "2"}}) {
    CAPTURE(rank, size, local);
    environment e;
    e.set("WEFT_RANK", rank)
        .set("WEFT_SIZE", size)
        .set("WEFT_LOCAL_SIZE", local)
        .set("WEFT_JOB", directory.environment());
    CHECK(kind_of_failure() == errc::invalid_argument);
  }
  std::string locator;
  context_id id;
  REQUIRE(parse_job_environment(directory.environment(), locator, id));
  environment e;
  e.set("WEFT_RANK", "0").set("WEFT_SIZE", "2").set("WEFT_LOCAL_SIZE", "2");
  e.set("WEFT_JOB", locator + "/" + to_text(random_id()));
  CHECK(kind_of_failure() == errc::unreachable);  // knows the locator, but not the job
}

TEST_CASE("a rank that the launcher hung up on asks again, and not for ever") {
  const context_id id = random_id();
  const std::string locator = random_socket_name();
  const opened launcher = listen_abstract(locator);
  REQUIRE(launcher.fd);
  REQUIRE(::fcntl(launcher.fd.get(), F_SETFL, 0) == 0);
  const auto next = [&] {
    return unique_fd(::accept4(launcher.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  };
  environment e;
  e.set("WEFT_RANK", "0").set("WEFT_SIZE", "2").set("WEFT_LOCAL_SIZE", "2");
  e.set("WEFT_JOB", locator + "/" + to_text(id));
  {
    unique_fd second;
    std::thread answering([&] {
      next();  // hangs up
      second = next();
      const frame f = encode(job_welcome{id, 2});
      send_packet(second.get(), frame_header::of(f), f.body, {});
    });
    CHECK(launched_job());
    answering.join();
  }
  std::thread hanging_up([&] {
    for (int i = 0; i < 3; ++i) next();
  });
  CHECK(kind_of_failure() == errc::unreachable);
  hanging_up.join();
}

TEST_CASE("a client that talks nonsense is dropped, the others go on") {
  job_directory directory(2);
  std::string locator;
  context_id id;
  REQUIRE(parse_job_environment(directory.environment(), locator, id));
  record<std::string> found;
  const auto zero = join(directory, 0, 2);
  const auto say = [](const unique_fd& to, const frame& f) {
    return send_packet(to.get(), frame_header::of(f), f.body, f.fds);
  };
  const std::vector<std::byte> junk(3);
  for (int kind = 0; kind < 32; ++kind) {
    for (bool after_hello : {false, true}) {
      CAPTURE(kind, after_hello);
      opened socket = connect_abstract(locator);
      REQUIRE(socket.fd);
      if (after_hello) REQUIRE(say(socket.fd, encode(job_hello{id, 1})) == 0);
      REQUIRE(say(socket.fd, {static_cast<frame_kind>(kind), 0, junk, {}}) == 0);
    }
  }
  opened socket = connect_abstract(locator);
  REQUIRE(say(socket.fd, encode(job_hello{id, 2})) == 0);  // no such rank
  zero->find(1, into(found));
  const auto one = join(directory, 1, 2);
  const std::string place = random_socket_name();
  one->publish(place);
  CHECK(found.next() == place);
}

}  // namespace weft::wireup::test
