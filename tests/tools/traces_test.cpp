// SPDX-License-Identifier: Apache-2.0
// Traces of several hosts on one clock.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "traces/clocks.hpp"
#include "traces/merged.hpp"
#include "traces/part.hpp"

using namespace weft::traces;
using nlohmann::json;
using weft::tests::Approx;
using weft::tests::contains;

namespace {

/// A rank whose clock is `ahead` of the true time, in microseconds.
struct rank {
  part p;
  double ahead;
  rank(std::uint32_t number, const char* clock, double is_ahead) : ahead(is_ahead) {
    p.rank = number;
    p.clock = clock;
    p.time_of_day = 1e15 - is_ahead;
    p.events.push_back(R"({"name":"process_name","ph":"M","pid":7,"args":{"name":"weft"}})");
  }
  void note(const char* what, std::uint32_t peer, double when, int bytes) {
    p.events.push_back("{\"name\":\"" + std::string(what) +
                       "\",\"cat\":\"weft\",\"pid\":7,\"tid\":7,\"ts\":" +
                       std::to_string(when + ahead) + R"(,"ph":"i","s":"t","args":{"peer":)" +
                       std::to_string(peer) + ",\"bytes\":" + std::to_string(bytes) + "}}");
  }
};

void message(rank& from, rank& to, double when, double takes, int bytes = 8) {
  from.note("posted", to.p.rank, when, bytes);
  from.note("sent", to.p.rank, when + 2 * takes, bytes);  // it was kept from noting that
  to.note("received", from.p.rank, when + takes, bytes);
}

constexpr double second = 1e6;

/// A file that is removed at the end.
struct scratch_file {
  std::string name = "weft-traces-" + std::to_string(::getpid()) + ".json";
  ~scratch_file() { std::remove(name.c_str()); }
};

}  // namespace

TEST_CASE("traces: messages in both directions bring two clocks together") {
  rank a(0, "one", 0), b(1, "two", -3 * second);
  for (int i = 0; i != 10; ++i) {
    message(a, b, i * 1000.0, 100 + 10 * i);
    message(b, a, i * 1000.0 + 500, 120 + 10 * i);
  }
  // They are received in another order than sent.
  a.note("posted", 1, 20'000, 16);
  a.note("posted", 1, 20'001, 16);
  b.note("received", 0, 20'201, 16);
  b.note("received", 0, 20'150, 16);
  const auto clocks = clocks_of({a.p, b.p});
  const shift& s = clocks.at("two");
  CHECK(clocks.at("one").add == 0);
  CHECK(s.error == Approx(110));  // half of what the fastest two messages take
  CHECK(std::abs(s.add - 3 * second) <= s.error);
  CHECK_THAT(s.how, contains("messages"));
}

TEST_CASE("traces: a host that talks to the first one by another") {
  rank a(0, "one", 0), b(1, "two", second), c(2, "three", -second);
  for (auto [x, y] : {std::pair(&a, &b), std::pair(&b, &c)}) {
    message(*x, *y, 1000, 50);
    message(*y, *x, 2000, 50);
  }
  const auto clocks = clocks_of({c.p, b.p, a.p});
  CHECK(clocks.at("two").add == Approx(-second));
  CHECK(clocks.at("three").add == Approx(second));
  CHECK(clocks.at("three").error == Approx(100));
}

TEST_CASE("traces: without messages in both directions the time of day has to do") {
  rank a(0, "one", 0), b(1, "two", -3 * second);
  message(a, b, 1000, 50);
  SECTION("one way") {}
  SECTION("overwritten") {
    message(b, a, 1000, 50);
    b.p.overwritten = 1;
  }
  SECTION("more received than sent") {
    message(b, a, 1000, 50);
    a.note("received", 1, 100, 8);
  }
  const shift s = clocks_of({a.p, b.p}).at("two");
  CHECK(s.error < 0);
  CHECK(s.add == Approx(3 * second));
  CHECK_THAT(s.how, contains("time of day"));
}

TEST_CASE("traces: the merged file has a process for each rank, on one clock") {
  rank a(0, "one", 0), b(1, "two", -3 * second);
  message(a, b, 1000, 50);
  message(b, a, 2000, 50);
  const scratch_file file;
  CHECK_THAT(write_merged(file.name, {a.p, b.p}),
             contains("the host of rank 1: +3000000 µs, by messages"));
  std::ifstream in(file.name);
  const json all = json::parse(in);
  CHECK(all.at("otherData").at("overwritten_events").size() == 2);
  CHECK(all["otherData"]["clocks"]["rank 1"]["error_us"].get<double>() == Approx(50));
  std::vector<std::pair<int, double>> at;
  for (const json& e : all.at("traceEvents"))
    if (e.contains("ts")) at.emplace_back(e.at("pid"), e.at("ts"));
  const std::vector<std::pair<int, double>> expected{{1, 1000}, {1, 1100}, {1, 2050},
                                                     {2, 1050}, {2, 2000}, {2, 2100}};
  REQUIRE(at.size() == expected.size());
  for (std::size_t i = 0; i != at.size(); ++i) {
    CHECK(at[i].first == expected[i].first);
    CHECK(at[i].second == Approx(expected[i].second));
  }
}

TEST_CASE("traces: what is no trace of a rank, or only a part of one, is none") {
  const scratch_file file;
  const std::string head = R"({"otherData":{"rank":3,"overwritten_events":2},"traceEvents":[)";
  const std::string event = R"({"name":"process_name","ph":"M","pid":1,"args":{}})";
  for (const std::string& bad :
       {std::string(), std::string("rubbish"), head + "\n" + event + ",\n", std::string("[]\n]}\n"),
        std::string(R"({"traceEvents":[)") + "\n]}\n",
        std::string(R"({"otherData":{"rank":"x"},"traceEvents":[)") + "\n]}\n"}) {
    std::ofstream(file.name) << bad;
    CHECK_FALSE(read_part(file.name, 0));
  }
  std::ofstream(file.name) << head << "\n" << event << "\n]}\n";
  const auto good = read_part(file.name, 0);
  REQUIRE(good);
  CHECK(good->rank == 3);
  CHECK(good->overwritten == 2);
  CHECK(good->events.size() == 1);
  CHECK_FALSE(read_part("/nonexistent", 0));
}
