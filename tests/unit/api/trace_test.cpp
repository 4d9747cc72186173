// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using nlohmann::json;

namespace {

/// The name of a temporary file, removed at its end.
struct scratch_file {
  std::string name = "weft-trace-" + std::to_string(::getpid()) + ".json";
  ~scratch_file() { std::remove(name.c_str()); }
};

options traced(const std::string& file) {
  options o;
  o.trace_file = file;
  o.transports = {"self"};
  return o;
}

json events_of(const std::string& file) {
  std::ifstream in(file);
  return json::parse(in).at("traceEvents");
}

/// How often each (name, phase) occurs.
std::map<std::pair<std::string, std::string>, int> count(const json& events) {
  std::map<std::pair<std::string, std::string>, int> n;
  for (const json& e : events) ++n[{e.at("name"), e.at("ph")}];
  return n;
}

task<void> exchange(context& ctx, std::size_t bytes) {
  endpoint me = ctx.world()[0];
  std::vector<std::byte> out(bytes), in(bytes);
  co_await when_all(me.send(out, tag{1}), me.recv(in, tag{1}));
}

}  // namespace

TEST_CASE("a trace shows messages, and rendezvous as spans that end") {
  const scratch_file file;
  constexpr std::size_t large = std::size_t{1} << 20;
  {
    context ctx(traced(file.name));
    run(ctx, exchange(ctx, 8));
    run(ctx, exchange(ctx, large));
  }
  const json events = events_of(file.name);
  auto n = count(events);
  CHECK(n[{"sent", "i"}] == 2);
  CHECK(n[{"received", "i"}] == 2);
  CHECK(n[{"rendezvous send", "b"}] == 1);
  CHECK(n[{"rendezvous send", "e"}] == 1);
  CHECK(n[{"rendezvous receive", "b"}] == 1);
  CHECK(n[{"rendezvous receive", "e"}] == 1);
  CHECK(n[{"process_name", "M"}] == 1);

  std::map<std::string, double> last;  // per thread: a thread's records are in order
  std::map<std::size_t, int> sizes;
  for (const json& e : events) {
    CHECK(e.at("pid") == ::getpid());
    if (e.at("ph") == "M") continue;
    if (e.at("name") == "received") ++sizes[e.at("args").at("bytes").get<std::size_t>()];
    if (e.at("ph") == "X") continue;  // recorded at its end, stamped with its beginning
    double& before = last[e.at("tid").dump()];
    CHECK(e.at("ts").get<double>() >= before);
    before = e.at("ts");
  }
  CHECK(sizes == std::map<std::size_t, int>{{8, 1}, {large, 1}});
}

TEST_CASE("a trace shows a message that came before its receive") {
  const scratch_file file;
  {
    context ctx(traced(file.name));
    run(ctx, [](context& c) -> task<void> {
      endpoint me = c.world()[0];
      const std::byte out[4]{};
      std::byte in[4];
      co_await me.send(out, tag{1});
      co_await me.probe(tag{1});
      co_await me.recv(in, tag{1});
    }(ctx));
  }
  auto n = count(events_of(file.name));
  CHECK(n[{"unexpected", "i"}] == 1);
  CHECK(n[{"received", "i"}] == 1);
}

TEST_CASE("a trace shows who slept, and for how long") {
  const scratch_file file;
  options o = traced(file.name);
  o.progress = progress_mode::interrupt;
  {
    context ctx(o);
    run(ctx, sleep_for(std::chrono::milliseconds{2}));
  }
  double asleep = 0, in_state = 0;  // of the thread, and of the context
  for (const json& e : events_of(file.name))
    if (e.at("name") == "asleep")
      (e.at("tid") == 0 ? in_state : asleep) += e.at("dur").get<double>();
  CHECK(asleep > 0);
  CHECK(in_state > 0);
}

TEST_CASE("a trace keeps the last events and says how many it lost", "[many]") {
  const scratch_file file;
  constexpr int rounds = 70'000;  // two events each
  {
    context ctx(traced(file.name));
    run(ctx, [](context& c) -> task<void> {
      for (int i = 0; i < rounds; ++i) co_await exchange(c, 0);
    }(ctx));
  }
  std::ifstream in(file.name);
  const json all = json::parse(in);
  const auto lost = all.at("otherData").at("overwritten_events").get<std::size_t>();
  std::size_t kept = 0;
  for (const json& e : all.at("traceEvents")) kept += e.at("ph") != "M";
  CHECK(lost > 0);
  CHECK(kept == 131'072);
  CHECK(lost + kept >= 2 * rounds);
}

TEST_CASE("a trace that cannot be written is told at the beginning") {
  try {
    context ctx(traced("/nowhere/at/all.json"));
    FAIL("it was made");
  } catch (const error& e) {
    CHECK(e.kind() == errc::system);
    CHECK(std::string(e.what()).find("WEFT_TRACE") != std::string::npos);
  }
}
