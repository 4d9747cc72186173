// SPDX-License-Identifier: Apache-2.0
// Another user of this host attacks all sockets of processes of weft, and of their launcher: with
// descriptors whose last close waits for an hour, and with more descriptors than a process may
// have. The processes go on, their deadlines fire, and nothing stays behind.
#include <signal.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <thread>

#include <weft/weft.hpp>

#include "job.hpp"
#include "outsiders.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using namespace fault;
using namespace std::chrono_literals;
using weft::errc;
using weft::task;

namespace {

constexpr std::size_t enough_rounds = 20;

std::vector<std::string> names_of(const std::vector<pid_t>& pids) {
  std::vector<std::string> all;
  for (const pid_t pid : pids)
    for (const std::string& name : abstract_names(pid)) all.push_back(name);
  return all;
}

std::vector<std::size_t> descriptors_of(const std::vector<pid_t>& pids) {
  std::vector<std::size_t> all;
  for (const pid_t pid : pids) all.push_back(open_descriptors(pid));
  return all;
}

bool no_more_than(const std::vector<std::size_t>& now, const std::vector<std::size_t>& before) {
  return std::ranges::equal(now, before, std::less_equal());
}

/// For a thread beside that of the test, which alone may use CHECK.
void need(bool well, const char* what) {
  if (!well) throw std::runtime_error(what);
}

/// Waits in vain, again and again, until `stop`.
task<void> wait_in_vain(weft::context& ctx, const std::atomic<bool>& stop, int& fired) {
  while (!stop) {
    std::byte never{};
    const auto r = co_await weft::as_result(weft::within(
        2ms, ctx.world()[ctx.world().rank()].recv(weft::mutable_buffer(&never, 1), weft::tag{99})));
    CHECK(r.code() == errc::timed_out);
    ++fired;
  }
}

/// An honest peer comes, gets what it said, and leaves.
task<void> echo(weft::listener& listening) {
  for (;;) {
    weft::endpoint there = co_await listening.accept();
    int said = 0;
    co_await there.recv_value(weft::tag{1}, said);
    co_await there.send_value(weft::tag{1}, said);
    co_await there.closed();
  }
}

task<void> visit(weft::context& ctx, std::string address, int times) {
  for (int i = 0; i != times; ++i) {
    weft::endpoint there = co_await weft::within(60s, ctx.connect(address));
    int heard = -1;
    co_await there.send_value(weft::tag{1}, i);
    co_await weft::within(60s, there.recv_value(weft::tag{1}, heard));
    need(heard == i, "an answer to something else");
    there.close();
    co_await there.closed();
  }
}

task<void> serve(weft::context& ctx, weft::listener& listening, const std::atomic<bool>& stop,
                 int& fired) {
  std::stop_source over;
  weft::scope guests;
  guests.start(weft::stoppable(over.get_token(), echo(listening)));
  co_await wait_in_vain(ctx, stop, fired);
  over.request_stop();
  static_cast<void>(co_await weft::as_result(guests.join()));
}

weft::options with_progress(const std::string& mode) {
  weft::options o = weft::options::from_environment();
  o.standalone = true;
  o.apply("WEFT_PROGRESS=" + mode);
  return o;
}

}  // namespace

TEST_CASE("outsider: a job goes on while another user attacks its ranks and its launcher",
          "[outsider]") {
  if (const std::string why = why_no_outsider(); !why.empty()) return weft::tests::skip(why);
  enter_private_world();
  const std::string mode = GENERATE("dedicated", "polling", "interrupt");
  CAPTURE(mode);
  {
    job j({"self,shm"}, mode, "");
    REQUIRE(eventually([&] {
      return j.launcher().has_ended() || std::ranges::all_of(std::array{0, 1, 2, 3}, [&](int r) {
               return j.notes().flows_with(static_cast<std::size_t>(r), 30);
             });
    }));
    std::vector<pid_t> pids = j.pids();
    CAPTURE(j.launcher().output());
    REQUIRE(pids.size() == ranks);
    pids.push_back(j.launcher().pid());
    const std::vector<std::string> names = names_of(pids);
    REQUIRE(names.size() >= 3 * ranks + 1);  // a socket and two bells of each rank
    const std::vector<std::size_t> before = descriptors_of(pids);

    outsider other("attack", names);
    CHECK(other.attacks(enough_rounds));
    const std::uint64_t messages = j.notes().received();
    CHECK(eventually([&] { return j.notes().received() > messages + 1000; }));
    other.pause();
    // None more than before; some that were on their way at the start have gone.
    CHECK(eventually([&] { return no_more_than(descriptors_of(pids), before); }));
    j.end_well();
  }
  CHECK(leftovers() == "");
}

TEST_CASE("outsider: deadlines fire and peers are served while another user attacks",
          "[outsider]") {
  if (const std::string why = why_no_outsider(); !why.empty()) return weft::tests::skip(why);
  enter_private_world();
  const std::string mode = GENERATE("dedicated", "polling", "interrupt");
  CAPTURE(mode);
  {
    weft::context ctx(with_progress(mode));
    weft::listener listening =
        weft::run(ctx, ctx.listen("unix://weft-outsider-" + std::to_string(::getpid())));
    weft::context guest(with_progress(mode));
    const std::vector<pid_t> self{::getpid()};
    const std::vector<std::string> names = abstract_names(::getpid());
    REQUIRE(names.size() >= 7);
    std::atomic<bool> stop = false;
    int fired = 0;
    std::vector<std::size_t> before;
    std::string failure;
    {
      outsider other("attack", names);
      std::jthread client([&] {
        try {
          weft::run(guest, visit(guest, listening.address(), 3));
          before = descriptors_of(self);
          need(other.attacks(enough_rounds), "the other user has ended");
          weft::run(guest, visit(guest, listening.address(), 20));
          other.pause();
          weft::run(guest, visit(guest, listening.address(), 3));
          need(eventually([&] { return no_more_than(descriptors_of(self), before); }),
               "descriptors stay open");
        } catch (const std::exception& e) {
          failure = e.what();
        }
        stop = true;
      });
      weft::run(ctx, serve(ctx, listening, stop, fired));
    }
    CHECK(failure == "");
    CHECK(fired > 20);
  }
  CHECK(leftovers() == "");
}

TEST_CASE("outsider: a job starts while another user attacks its launcher", "[outsider]") {
  if (const std::string why = why_no_outsider(); !why.empty()) return weft::tests::skip(why);
  enter_private_world();
  const std::filesystem::path go =
      std::filesystem::temp_directory_path() / ("weft-outsider-" + std::to_string(::getpid()));
  {
    const shared_board notes;
    program launcher({bin + "/weft-run", "-n", std::to_string(ranks), "--", "/bin/sh", "-c",
                      "while [ ! -e " + go.string() + " ]; do sleep 0.01; done; exec " + bin +
                          "/tests/traffic " + std::to_string(notes.fd()) + " 1000"});
    std::vector<std::string> names;
    REQUIRE(eventually([&] { return !(names = abstract_names(launcher.pid())).empty(); }));
    outsider other("attack", names);
    CHECK(other.attacks(enough_rounds));
    std::ofstream(go).flush();
    CHECK(launcher.wait() == 0);
    CAPTURE(launcher.output());
    CHECK(count(launcher.output(), " was turned away: ") == 1);
  }
  std::filesystem::remove(go);
  CHECK(leftovers() == "");
}

TEST_CASE("outsider: a name that another user has taken costs a connection, and no more",
          "[outsider]") {
  if (const std::string why = why_no_outsider(); !why.empty()) return weft::tests::skip(why);
  enter_private_world();
  {
    weft::context ctx(with_progress("dedicated"));
    const std::string name = "weft-outsider-" + std::to_string(::getpid());
    outsider other("squat", {"weft-door:" + std::to_string(::geteuid()) + ":" + name});
    REQUIRE(eventually([&] { return other.rounds() == 1; }));
    for (int i = 0; i != 20; ++i) {
      const auto r = weft::run(ctx, weft::as_result(ctx.connect("unix://" + name)));
      CHECK(r.code() == errc::unreachable);
      const auto taken = weft::run(ctx, weft::as_result(ctx.listen("unix://" + name)));
      CHECK(taken.code() == errc::system);
    }
  }
  CHECK(leftovers() == "");
}
