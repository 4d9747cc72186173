// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <string>
#include <thread>

#include <weft/explain.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/parts.hpp"
#include "support/skip.hpp"

using namespace weft;

namespace {

/// The explanations for all kinds of messages, in one text.
std::string ways(const options& o, std::size_t bytes, bool cma = true) {
  const context ctx(o);
  std::string text;
  for (const route& r : explain_routes(ctx, bytes, cma)) text += r.when + ": " + r.way + "\n";
  return text;
}

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

TEST_CASE("small messages share a cache line with their header, larger ones ask first") {
  CHECK(has(ways({}, 8), "share one cache line"));
  CHECK_FALSE(has(ways({}, 45), "share one cache line"));
  CHECK(has(ways({}, 1 << 20), "rendezvous"));
  CHECK(has(ways({}, 1 << 20), "while receivers get such messages"));
}

TEST_CASE("the ways of large messages follow the options") {
  options o;
  CHECK(has(ways(o, 1 << 20), "direct copy"));
  CHECK(has(ways(o, 1 << 20), "whichever has measured faster"));
  CHECK_FALSE(has(ways(o, 1 << 20), "CMA: the kernel copies it"));
  o.progress = progress_mode::polling;
  CHECK(has(ways(o, 1 << 20), "CMA: the kernel copies it"));
  CHECK_FALSE(has(ways(o, 1 << 20, false), "CMA"));
  o.experimental.shm_copy = "pipeline";
  CHECK_FALSE(has(ways(o, 1 << 20), "CMA"));
  CHECK_FALSE(has(ways(o, 1 << 20), "direct copy"));
  o.eager_limit = std::size_t{2} << 20;
  o.unexpected_budget = std::size_t{1} << 30;
  CHECK(has(ways(o, 1 << 20), "rendezvous"));  // more than the receiver grants at first
  o.eager_limit = 1024;
  CHECK(has(ways(o, 1025), "rendezvous"));
}

TEST_CASE("the stores into a ring are explained where they can be streamed") {
  options o;
  CHECK_FALSE(has(ways(o, 4095), "stores"));
  CHECK(has(ways(o, 32 << 10), "ordinary stores"));
  CHECK_FALSE(has(ways(o, 32 << 10), "streaming"));
  o.apply("WEFT_SHM_STORES=streaming:8k");
  CHECK(has(ways(o, 8 << 10), "streaming stores"));
  CHECK(has(ways(o, 1 << 20), "in pieces of 8192 bytes"));
  CHECK(has(ways(o, 8191), "begins at 8192"));
}

TEST_CASE("qdma explains its queue, its stage and its copies") {
  if (!weft::tests::has_part("qdma")) return weft::tests::skip("this build has no qdma");
  options o;
  o.transports = {"self", "qdma"};
  CHECK(has(ways(o, 36), "one cache line of the receiver's queue"));
  CHECK(has(ways(o, 2032), "share a slot"));
  CHECK(has(ways(o, 2033), "in the sender's stage"));
  CHECK(has(ways(o, 1 << 20), "through the stage"));
  CHECK(has(ways(o, 1 << 20), "memory of the device"));
  CHECK_FALSE(has(ways(o, 1 << 20), "by the kernel"));
  o.experimental.rendezvous = rendezvous_scheme::get;
  CHECK(has(ways(o, 1 << 20), "one copy by the kernel: the receiver reads it"));
  CHECK_FALSE(has(ways(o, 1 << 20, false), "by the kernel"));
  o.experimental.rendezvous = rendezvous_scheme::put;
  CHECK(has(ways(o, 1 << 20), "the sender writes it"));
}

TEST_CASE("each transport has an eager limit of its own, unless the options name one") {
  options shm, tcp;
  tcp.transports = {"self", "tcp"};
  CHECK(has(ways(shm, 48 << 10), "at once"));
  CHECK(has(ways(shm, 49 << 10), "rendezvous"));
  CHECK(has(ways(tcp, 49 << 10), "at once"));
  CHECK(has(ways(tcp, 65 << 10), "rendezvous"));
  for (options* const o : {&shm, &tcp}) {
    o->eager_limit = 36 << 10;
    CHECK(has(ways(*o, 36 << 10), "at once"));
    CHECK(has(ways(*o, 40 << 10), "rendezvous"));
  }
  for (options* const o : {&shm, &tcp}) {
    o->apply("WEFT_EAGER_LIMIT=shm=96k,20k");
    CHECK(has(ways(*o, 20 << 10), "at once"));
  }
  CHECK(has(ways(shm, 96 << 10), "at once"));
  CHECK(has(ways(shm, 97 << 10), "rendezvous"));
  CHECK(has(ways(tcp, 21 << 10), "rendezvous"));
}

TEST_CASE("a context without shared memory explains that it has none") {
  options o;
  o.transports = {"self"};
  const context ctx(o);
  CHECK_THROWS_AS(explain_routes(ctx, 8, true), error);
}

namespace {

/// Connects two contexts with these transports, and runs `act` on the first one.
template <class Act>
auto with_peer(const std::vector<std::string>& here, const std::vector<std::string>& there,
               Act act) {
  options o;
  o.transports = here;
  context ctx(o);
  o.transports = there;
  context other(o);
  listener listening =
      run(ctx, ctx.listen("unix://weft-test-explain-" + std::to_string(::getpid())));
  // Both contexts live until this side has its answer.
  std::thread requester([&] { run(other, other.connect(listening.address())); });
  const endpoint to = run(ctx, listening.accept());
  requester.join();
  return act(ctx, to);
}

/// The transports that each side tried for the other.
std::vector<candidate> candidates(const std::vector<std::string>& here,
                                  const std::vector<std::string>& there) {
  return with_peer(here, there, [](context& ctx, const endpoint& to) {
    return run(ctx, explain_peer(ctx, to));
  });
}

const candidate& find(const std::vector<candidate>& all, const std::string& name) {
  for (const candidate& one : all)
    if (one.transport == name) return one;
  FAIL("nothing about " + name);
  return all.front();
}

}  // namespace

TEST_CASE("explain_peer tells which transport was chosen, and what came of the others") {
  using outcome = candidate::outcome;
  const auto all = candidates({"self", "shm", "tcp"}, {"self", "shm", "tcp"});
  REQUIRE(all.size() == 4);
  CHECK(find(all, "self").result == outcome::refused);
  CHECK(find(all, "shm").result == outcome::chosen);
  CHECK(has(find(all, "shm").why, "shm"));
  CHECK(find(all, "tcp").result == outcome::not_tried);
  CHECK(find(all, "verbs").result == outcome::not_used);

  const auto without = candidates({"self", "tcp"}, {"self", "tcp"});
  CHECK(find(without, "tcp").result == outcome::chosen);
  CHECK(find(without, "shm").result == outcome::not_used);
  CHECK(has(find(without, "shm").why, "WEFT_TRANSPORTS"));
}

TEST_CASE("explain_peer tells it, too, when no transport reaches the peer") {
  const auto none = candidates({"self"}, {"self"});
  CHECK(find(none, "self").result == candidate::outcome::refused);
  for (const candidate& one : none) CHECK(one.result != candidate::outcome::chosen);
}

TEST_CASE(
    "who is reached by nothing is told why of every transport, also of those that are missing") {
  if (!tests::has_part("verbs")) return tests::skip("built without verbs");
  const std::string said =
      with_peer({"self", "verbs"}, {"self"}, [](context& ctx, const endpoint& to) {
        const auto r = sync_wait(ctx, as_result(to.send(const_buffer{}, tag{1})));
        REQUIRE(r.code() == errc::unreachable);
        return std::string(r.failure().what());
      });
  CHECK_THAT(said, weft::tests::contains("no transport reaches it: self: ") &&
                       weft::tests::contains("; verbs: ") && !Catch::Matchers::EndsWith("; "));
}

TEST_CASE("a rank that nobody has is said to be none") {
  options o;
  o.standalone = true;
  context ctx(o);
  const auto r = sync_wait(ctx, as_result(ctx.peer(1000).send(const_buffer{}, tag{1})));
  REQUIRE_FALSE(r);
  CHECK_THAT(r.failure().what(), weft::tests::contains("no process has that rank"));
}

TEST_CASE("the algorithms of a collective come with their costs, the cheapest first") {
  for (const peer_id hosts : {1u, 0u, 2u})
    for (const char* what : {"broadcast", "all_reduce", "gather", "all_to_all"}) {
      const auto all = explain_collective(what, 1 << 20, 8, hosts);
      CAPTURE(what, hosts);
      REQUIRE(all.size() > 1);
      for (std::size_t i = 1; i != all.size(); ++i)
        if (all[i].unfit.empty()) CHECK(all[i - 1].microseconds <= all[i].microseconds);
    }
  CHECK(explain_collective("barrier", 0, 5, 1).front().algorithm == "flags");
  CHECK(explain_collective("barrier", 0, 5, 0).front().algorithm == "dissemination");
  const auto cost = [](std::size_t bytes, peer_id hosts) {
    return explain_collective("all_reduce", bytes, 8, hosts).front().microseconds;
  };
  CHECK(cost(8, 1) < cost(8, 2));
  CHECK(cost(8, 2) < cost(8, 0));
  CHECK(cost(1 << 20, 2) < cost(1 << 20, 0));
}

TEST_CASE("a collective's algorithm that was asked for comes first, if it serves") {
  const auto ring = explain_collective("all_reduce", 1 << 20, 8, 1, "all_reduce:ring");
  CHECK(ring.front().algorithm == "ring");
  CHECK(ring.front().forced);
  const auto small = explain_collective("all_reduce", 8, 8, 0, "all_reduce:ring");
  CHECK(small.front().algorithm == "recursive_doubling");
  for (const algorithm_cost& one : small)
    CHECK(one.unfit.empty() == (one.algorithm == "recursive_doubling"));
  CHECK_THROWS_WITH(explain_collective("all_reduce", 8, 8, 1, "all_reduce:chain"),
                    weft::tests::contains("recursive_doubling|rabenseifner|ring"));
}

TEST_CASE("an unknown collective, or one of no ranks, is an error that names the known ones") {
  CHECK_THROWS_WITH(explain_collective("all_mean", 8, 2, 1),
                    weft::tests::contains("all_mean") && weft::tests::contains("all_reduce"));
  CHECK_THROWS_AS(explain_collective("barrier", 0, 0, 1), error);
  CHECK_THROWS_WITH(explain_collective("barrier", 0, 7, 2), weft::tests::contains("2 hosts"));
}
