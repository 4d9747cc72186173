// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>

#include "collectives/algorithm.hpp"
#include "scale/meet.hpp"
#include "scale/report.hpp"
#include "support/catch.hpp"

namespace {

using namespace scale;

std::vector<finding> find(const wishes& w) {
  std::vector<finding> all;
  survey(w, [&](const finding& f) { all.push_back(f); });
  return all;
}

wishes small(bool all_algorithms) {
  wishes w;
  w.ranks = {5, 8, 64};
  w.works = {{kind::barrier, 0},       {kind::broadcast, 8},         {kind::broadcast, 256 << 10},
             {kind::all_reduce, 8},    {kind::all_reduce, 64 << 10}, {kind::all_gather, 8},
             {kind::all_gather, 4096}, {kind::all_to_all, 8},        {kind::all_to_all, 4096}};
  w.all_algorithms = all_algorithms;
  w.machine.places = {4, 2, 2};  // several hosts and racks with few ranks
  return w;
}

std::unique_ptr<delivery> message(weft::peer_id from, weft::peer_id to, std::uint32_t bytes) {
  auto p = std::make_unique<delivery>();
  p->from = from;
  p->to = to;
  p->header.size = bytes;
  return p;
}

}  // namespace

TEST_CASE("a message costs latency, both overheads and its bytes") {
  network net = network::rdma();
  net.costs[0] = {1.0, 0.25, 0.125, 1.0 / 1024};
  fabric way(net, 2);
  way.send(message(0, 1, 1024 - sizeof(transports::frame_header)));
  REQUIRE(way.next());
  CHECK(in_microseconds(way.clock_of(0)) == 0.25);
  CHECK(in_microseconds(way.clock_of(1)) == 0.25 + 1.0 + 1.0 + 0.25);
  CHECK_FALSE(way.next());
}

TEST_CASE("ranks of one host share its port, and ranks of two hosts do not") {
  network net = network::rdma();
  net.costs[2] = {1.0, 0.0, 0.5, 0.0};
  net.places = {2, 1, 4};
  fabric way(net, 6);
  way.send(message(0, 4, 0));
  way.send(message(1, 5, 0));  // waits for the gap of the first
  way.send(message(2, 5, 0));  // leaves at once, and comes first
  for (int i = 0; i != 3; ++i) REQUIRE(way.next());
  CHECK(in_microseconds(way.clock_of(4)) == 1.0);
  CHECK(in_microseconds(way.clock_of(5)) >= 1.5);
  CHECK_FALSE(way.next());
}

TEST_CASE("a rank takes messages one after the other") {
  network net = network::rdma();
  net.costs[0] = {1.0, 0.5, 0.0, 0.0};
  fabric way(net, 3);
  way.send(message(0, 2, 0));
  way.send(message(1, 2, 0));
  while (way.next()) {
  }
  CHECK(in_microseconds(way.clock_of(2)) == 0.5 + 1.0 + 0.5 + 0.5);
}

TEST_CASE("the level between two ranks is their largest border") {
  network net;
  net.places = {4, 2, 2};
  CHECK(net.between(0, 3) == level::core);
  CHECK(net.between(0, 4) == level::socket);
  CHECK(net.between(0, 8) == level::host);
  CHECK(net.between(0, 16) == level::rack);
}

TEST_CASE("every algorithm gives right results at all ranks of a simulated job") {
  // survey throws when a result is wrong or a rank waits for ever.
  const auto all = find(small(true));
  std::set<std::pair<kind, std::string_view>> seen;
  for (const finding& f : all) seen.insert({f.what.what, f.how});
  CHECK(seen.size() == 20);
}

TEST_CASE("every algorithm in the table of its collective gives right results when it is forced") {
  namespace c = weft::collectives;
  network net = network::rdma();
  for (std::size_t k = 0; k != c::kinds; ++k) {
    const kind what = static_cast<kind>(k);
    for (std::uint8_t place = 0; place != c::table_of(what).algorithms.size(); ++place) {
      c::forced_choices forced{};
      forced[k] = static_cast<std::uint8_t>(place + 1);
      const c::algorithm& how = c::table_of(what).algorithms[place];
      if (how.name.starts_with("flags")) continue;  // simulated ranks share no memory
      int served = 0;
      const bool by_levels = how.name.starts_with("levels");
      const auto sizes =
          by_levels ? std::vector<peer_id>{4, 6, 9, 12} : std::vector<peer_id>{1, 2, 3, 5, 8, 13};
      for (const peer_id ranks : sizes)
        for (const std::size_t bytes : {8u, 104u, 4'096u, 200'008u}) {
          CAPTURE(c::name_of(what), how.name, ranks, bytes);
          net.places.per_socket = !by_levels ? 32 : ranks % 3 == 0 ? 3 : 2;
          net.places.sockets = 1;
          const c::group_shape shape = net.shape(ranks, forced);
          const bool serves = !how.unfit({what, bytes}, shape);
          if (serves) CHECK(c::choose({what, bytes}, shape) == place);
          job all(net, ranks, forced);
          exercise data(all, {what, bytes}, ranks / 2);
          CHECK_NOTHROW(data.run());
          CHECK_NOTHROW(exercise(all, {what, bytes}, ranks - 1).run());
          served += serves;
        }
      CAPTURE(c::name_of(what), how.name);
      CHECK(served > 0);
    }
  }
}

TEST_CASE("a simulated job gives the same figures each time") {
  const auto first = find(small(false)), second = find(small(false));
  REQUIRE(first.size() == second.size());
  for (std::size_t i = 0; i != first.size(); ++i) {
    CHECK(first[i].cost.microseconds == second[i].cost.microseconds);
    CHECK(first[i].cost.total.frames == second[i].cost.total.frames);
    CHECK(first[i].cost.total.bytes == second[i].cost.total.bytes);
    CHECK(first[i].known.peers == second[i].known.peers);
  }
}

TEST_CASE(
    "a dissemination barrier has a message to 2 log n ranks, in virtual time near its bound") {
  wishes w;
  w.ranks = {64};
  w.works = {{kind::barrier, 0}};
  const auto all = find(w);
  REQUIRE(all.size() == 1);
  CHECK(all[0].cost.most.frames == 6);
  CHECK(all[0].known.most_peers == 11);  // the ranks 32 before and 32 after are one
  CHECK(all[0].ratio() >= 1);
  CHECK(all[0].ratio() < 3);
}

TEST_CASE("the bound of a large reduction is that of the port that the ranks of a host share") {
  network net = network::rdma();
  const lower_bound b = bound_of({kind::all_reduce, 1 << 20}, net, 512);
  CHECK(b.least() >= 2.0 * (1 << 20) * 7 / 8 * net.cost(level::host).per_byte);
  CHECK(bound_of({kind::all_reduce, 8}, net, 512).least() >
        bound_of({kind::all_reduce, 8}, net, 64).least());
}

TEST_CASE("a broadcast down a tree enters each host about once") {
  wishes w = small(true);
  w.ranks = {64};  // on 8 hosts
  w.works = {{kind::broadcast, 4096}};
  for (const finding& f : find(w))
    if (f.how == "binomial") CHECK(f.cost.total.leaving < 2 * 7 * 4096);
}

TEST_CASE("a large reduction moves less than twice the least bytes between hosts") {
  wishes w = small(true);
  w.ranks = {64};
  w.works = {{kind::all_reduce, 64 << 10}};
  for (const finding& f : find(w))
    if (f.how == "rabenseifner" || f.how == "ring")
      CHECK(f.cost.total.leaving < 2 * 2 * 7 * (64 << 10));
}

TEST_CASE("the drawing has a panel for each collective") {
  const std::string svg = drawing(find(small(false)));
  for (const char* name : {"barrier", "broadcast", "all_reduce", "all_gather", "all_to_all"})
    CHECK(svg.find(std::string(">") + name + "<") != std::string::npos);
}

TEST_CASE("ranks meet at rank 0 by a few frames each") {
  const meeting_cost few = meet(3), more = meet(40);
  CHECK(few.frames == 3 * 4);
  CHECK(more.frames == 40 * 4);
  CHECK(more.seconds > 0);
}
