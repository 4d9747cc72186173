// SPDX-License-Identifier: Apache-2.0
// The counters as OpenMetrics text, and the file with it.
#include <weft/openmetrics.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <mutex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/openmetrics.hpp"

using namespace weft;
using weft::tests::contains;
using weft::tests::openmetrics;
using namespace std::chrono_literals;

namespace {

/// A folder of its own, removed at its end.
struct scratch_folder {
  std::string name = "weft-openmetrics-" + std::to_string(::getpid());
  scratch_folder() { REQUIRE(::mkdir(name.c_str(), 0700) == 0); }
  ~scratch_folder() {
    for (const char* file : {"/m.prom", "/m.prom.tmp"}) ::unlink((name + file).c_str());
    ::rmdir(name.c_str());
  }
};

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  std::stringstream all;
  all << in.rdbuf();
  return all.str();
}

options to_itself() {
  options o;
  o.standalone = true;
  o.transports = {"self"};
  return o;
}

task<void> send_to_self(context& ctx, int times) {
  endpoint me = ctx.world()[0];
  for (int i = 0; i != times; ++i) {
    std::uint64_t in = 0;
    co_await when_all(me.send_value(tag{1}, std::uint64_t{7}), me.recv_value(tag{1}, in));
  }
}

/// One lane with two peers, one of them with a name that has to be escaped.
std::vector<lane_metrics> made_up() {
  lane_metrics lane;
  lane.rank = 3;
  lane.total.messages_sent = 11;
  lane.total.nanoseconds_asleep = 1'500'000'000;
  lane.transports.resize(1);
  lane.transports[0].transport = "shm";
  lane.peers.resize(2);
  lane.peers[0].peer = 1;
  lane.peers[0].name = "rank 1";
  lane.peers[0].transport = "shm";
  lane.peers[0].messages_sent = 11;
  lane.peers[0].connected = true;
  lane.peers[0].bytes_sealed = 5;
  lane.total.handshakes_failed = 2;
  lane.total.segments_sent_again = 9;
  lane.peers[1].peer = peer_id{1} << 31;
  lane.peers[1].name = "a \"\\\n name";
  return {lane};
}

}  // namespace

TEST_CASE("openmetrics: the text keeps the grammar, and has every sample once") {
  const std::string text = to_openmetrics(made_up());
  CAPTURE(text);
  const openmetrics read(text);
  CHECK(read.value("weft_sent_messages_total", R"(rank="3",lane="0")") == 11);
  CHECK(read.value("weft_asleep_seconds_total", R"(rank="3",lane="0")") == 1.5);
  CHECK(read.value("weft_unexpected_bytes", R"(rank="3",lane="0")") == 0);
  CHECK(read.value("weft_transport_sent_messages_total", R"(rank="3",lane="0",transport="shm")") ==
        0);
  CHECK(read.value("weft_peer_sent_messages_total",
                   R"(rank="3",lane="0",peer="1",transport="shm")") == 11);
  CHECK(read.value("weft_peer_connected", R"(rank="3",lane="0",peer="1",transport="shm")") == 1);
  CHECK(read.value("weft_peer_sealed_bytes_total",
                   R"(rank="3",lane="0",peer="1",transport="shm")") == 5);
  CHECK(read.value("weft_failed_handshakes_total", R"(rank="3",lane="0")") == 2);
  CHECK(read.value("weft_sent_again_segments_total", R"(rank="3",lane="0")") == 9);
  CHECK(read.value("weft_peer_connected",
                   R"(rank="3",lane="0",peer="a \"\\\n name",transport="")") == 0);
  CHECK(read.value("weft_build_info", std::string("version=\"") + version() + '"') == 1);
}

TEST_CASE("openmetrics: less detail leaves out peers, and transports") {
  const std::vector<lane_metrics> lanes = made_up();
  const openmetrics peers(to_openmetrics(lanes)),
      transports(to_openmetrics(lanes, metrics_detail::transports)),
      totals(to_openmetrics(lanes, metrics_detail::totals));
  CHECK(peers.families() > transports.families());
  CHECK(transports.families() > totals.families());
  CHECK(totals.samples() == totals.families());
}

TEST_CASE("openmetrics: the reader of the tests is strict") {
  const std::string good =
      "# TYPE a_bytes counter\n# UNIT a_bytes bytes\na_bytes_total{x=\"1\"} 2\n";
  CHECK_NOTHROW(openmetrics(good + "# EOF\n"));
  for (const std::string& bad :
       {good, good + "# EOF", good + "# EOF\n\n", good + good + "# EOF\n",
        good + "a_bytes_total{x=\"1\"} 2\n# EOF\n", good + "a_bytes_total{x=\"2\"} -2\n# EOF\n",
        good + "a_bytes_total{x=\"2} 2\n# EOF\n",
        good + "a_bytes_total{x=\"2\",x=\"3\"} 2\n# EOF\n", good + "b_total{x=\"2\"} 2\n# EOF\n",
        good + "# UNIT a_bytes bytes\n# EOF\n",
        std::string("# TYPE a_s counter\n# UNIT a_s bytes\n# EOF\n"),
        std::string("# TYPE a_total counter\n# EOF\n")})
    CHECK_THROWS_AS(openmetrics(bad), std::exception);
}

TEST_CASE("openmetrics: the file of options::metrics_file is there at once, and true at the end") {
  const scratch_folder folder;
  options o = to_itself();
  o.metrics_file = folder.name + "/m.prom";
  {
    context ctx(o);
    const openmetrics first(text_of(o.metrics_file));
    CHECK(first.value("weft_sent_messages_total", R"(rank="0",lane="0")") == 0);
    run(ctx, send_to_self(ctx, 5));
  }
  const openmetrics last(text_of(o.metrics_file));
  CHECK(last.value("weft_sent_messages_total", R"(rank="0",lane="0")") == 5);
  CHECK(last.value("weft_peer_sent_messages_total",
                   R"(rank="0",lane="0",peer="0",transport="self")") == 5);
  CHECK(::access((o.metrics_file + ".tmp").c_str(), F_OK) != 0);
}

TEST_CASE("openmetrics: the file is replaced in intervals") {
  const scratch_folder folder;
  options o = to_itself();
  o.metrics_file = folder.name + "/m.prom";
  o.metrics_interval = 1s;
  context ctx(o);
  run(ctx, send_to_self(ctx, 3));
  const auto count = [&] {
    return openmetrics(text_of(o.metrics_file))
        .value("weft_sent_messages_total", R"(rank="0",lane="0")");
  };
  while (count() != 3) std::this_thread::sleep_for(10ms);
}

TEST_CASE("openmetrics: a reader never finds a part of the text") {
  const scratch_folder folder;
  context ctx(to_itself());
  const std::string file = folder.name + "/m.prom";
  write_openmetrics(ctx, file);
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int i = 0; i != 300; ++i) write_openmetrics(ctx, file);
    done = true;
  });
  int read = 0;
  do {
    const openmetrics whole(text_of(file));
    ++read;
  } while (!done);
  writer.join();
  CHECK(read > 0);
}

TEST_CASE("openmetrics: a file that cannot be written is an error that names it") {
  options o = to_itself();
  o.metrics_file = "/nonexistent/m.prom";
  CHECK_THROWS_WITH(context(o), contains("/nonexistent/m.prom") && contains("No such file"));
  o.metrics_file.clear();
  o.metrics_interval = 0s;
  CHECK_THROWS_WITH(context(o), contains("WEFT_METRICS_INTERVAL") && contains("1 to 86400"));
  context ctx(to_itself());
  CHECK_THROWS_WITH(write_openmetrics(ctx, "/nonexistent/m.prom"),
                    contains("/nonexistent/m.prom.tmp"));
}

TEST_CASE("openmetrics: a file that can be written no more is reported once") {
  std::atomic<int> reports{0};
  std::string folder_name;
  {
    const scratch_folder folder;
    folder_name = folder.name;
    options o = to_itself();
    o.metrics_file = folder.name + "/m.prom";
    o.metrics_interval = 1s;
    o.log.sink = [&](log_level level, std::string_view line) {
      if (level == log_level::warning && line.find("/m.prom") != line.npos) ++reports;
    };
    const context ctx(o);
    ::unlink(o.metrics_file.c_str());
    REQUIRE(::rmdir(folder.name.c_str()) == 0);
    while (reports == 0) std::this_thread::sleep_for(10ms);
  }
  CHECK(reports == 1);
}
