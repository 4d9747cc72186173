// SPDX-License-Identifier: Apache-2.0
// Processes join a job that is at work, leave it and die: programs/member.cpp.
#include <signal.h>

#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <memory>
#include <random>
#include <set>
#include <sstream>
#include <thread>

#include "support/catch.hpp"
#include "support/parts.hpp"
#include "support/skip.hpp"
#include "wireup/auth/job_key.hpp"
#include "world.hpp"

using namespace fault;

namespace {

const std::string member_program = bin + "/tests/member";

/// Rank 0, alone or with others that were launched with it, and the processes that join.
class growing_job {
 public:
  /// \param launched the number of ranks at the start
  growing_job(const std::string& transport, int launched)
      : environment_{"WEFT_TRANSPORTS=" + transport, "WEFT_PEER_TIMEOUT=5",
                     "WEFT_JOB_KEY=" + weft::wireup::job_key::random().to_text()} {
    // Over TCP they also connect to rank 0 by TCP.
    const std::string listening = transport == "self,tcp" ? "tcp://127.0.0.1:0" : "any://:0";
    std::vector<std::string> command{member_program, "open", listening};
    if (launched > 1)
      command.insert(command.begin(), {bin + "/weft-run", "-n", std::to_string(launched)});
    first_ = std::make_unique<program>(command, environment_);
    ranks_ = launched;
    said(*first_, "open ");
    const std::string text = first_->output();
    const auto at = text.find("open ");
    if (at != std::string::npos) address_ = text.substr(at + 5, text.find('\n', at) - at - 5);
  }

  program& first() { return *first_; }
  const std::string& address() const { return address_; }

  /// Starts a process that joins. It may learn its rank later.
  program& start() {
    return joined_.emplace_back(std::vector<std::string>{member_program, "join", address_},
                                environment_);
  }

  /// The same for one of many processes; this object does not keep it.
  std::unique_ptr<program> start_requester() const {
    return std::make_unique<program>(std::vector<std::string>{member_program, "join", address_},
                                     environment_);
  }

  /// Waits until the process has written a text.
  static bool said(program& who, const std::string& what, std::size_t times = 1) {
    return eventually([&] { return count(who.output(), what) >= times || who.has_ended(); }) &&
           count(who.output(), what) >= times;
  }
  /// The rank of a process that joined; empty: none.
  static std::string rank_of(program& one) {
    said(one, "rank ");
    const std::string text = one.output();
    const auto at = text.find("rank ");
    return at == std::string::npos ? "" : text.substr(at + 5, text.find('\n', at) - at - 5);
  }
  static bool leaves(program& one) {
    ::kill(one.pid(), SIGTERM);
    return one.wait() == 0;
  }
  /// All ranks from the start leave. Checks their output.
  bool ends() {
    const std::vector<pid_t> pids = ranks_ == 1 ? std::vector{first_->pid()} : first_->children();
    for (std::size_t rank = pids.size(); rank-- != 0;) {
      ::kill(pids[rank], SIGTERM);
      if (rank != 0) said(*first_, "0 sees -" + std::to_string(rank) + "\n");
    }
    return first_->wait() == 0;
  }
  std::string story() const {
    std::string all = first_->output();
    for (const program& one : joined_) all += one.output();
    return all;
  }

 private:
  const std::vector<std::string> environment_;
  int ranks_ = 0;
  std::unique_ptr<program> first_;
  std::deque<program> joined_;
  std::string address_;
};

/// The system resources of a process: descriptors, threads, and mappings of memory files.
struct belongings {
  std::size_t descriptors, threads, segments;
  bool operator<=(const belongings& o) const {
    return descriptors <= o.descriptors && threads <= o.threads && segments <= o.segments;
  }
};

belongings belongings_of(pid_t pid) {
  const std::filesystem::path proc = "/proc/" + std::to_string(pid);
  std::size_t segments = 0;
  std::ifstream maps(proc / "maps");
  for (std::string text; std::getline(maps, text);)
    segments += text.find("memfd:") == std::string::npos ? 0 : 1;
  const std::filesystem::directory_iterator threads(proc / "task");
  return {open_descriptors(pid),
          static_cast<std::size_t>(std::distance(begin(threads), end(threads))), segments};
}

/// Processes join a job, exchange messages with all others in it, and leave, some of them together.
void come_and_go(const std::string& transport, std::size_t requesters, std::size_t together) {
  enter_private_world();
  {
    growing_job job(transport, 1);
    const pid_t host = job.first().pid();
    const auto visit = [&](std::size_t how_many) {
      std::vector<std::unique_ptr<program>> there;
      for (std::size_t i = 0; i != how_many; ++i) there.push_back(job.start_requester());
      for (auto& one : there) {
        const bool met = job.said(*one, job.rank_of(*one) + " met all");
        const bool left = job.leaves(*one);
        CAPTURE(one->output());
        REQUIRE((met && left));
        REQUIRE(count(one->output(), "wrong") + count(one->output(), "error") == 0);
      }
    };
    visit(together);  // allocates what is made once only
    program& good = job.start();
    CHECK(job.said(good, job.rank_of(good) + " met all"));
    const belongings before = belongings_of(host), before_good = belongings_of(good.pid());
    for (std::size_t n = 0; n < requesters; n += together) visit(together);
    // Nor more than is made once: a rank's tcp listener opens when another rank first needs it,
    // which may be late.
    const auto has_no_more = [](pid_t pid, belongings than) {
      than.descriptors += 3;
      const bool so = eventually([&] { return belongings_of(pid) <= than; });
      const belongings now = belongings_of(pid);
      CAPTURE(than.descriptors, now.descriptors, than.threads, now.threads, than.segments,
              now.segments);
      CHECK(so);
    };
    has_no_more(host, before);
    has_no_more(good.pid(), before_good);
    CHECK(job.leaves(good));
    CHECK(job.ends());
    CHECK(count(job.first().output(), "wrong") == 0);
  }
  CHECK(leftovers() == "");
}

std::string line(const std::string& who, const std::string& what, const std::string& whom) {
  return who + what + whom + "\n";
}

}  // namespace

TEST_CASE("members: processes join and leave while the others are at work") {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  {
    growing_job job(transport, 2);
    std::deque<program*> there;
    std::set<std::string> ranks;
    for (int round = 0; round != 3; ++round) {
      // Two processes at the same moment.
      program& one = job.start();
      program& other = job.start();
      for (program* p : {&one, &other}) {
        const std::string rank = job.rank_of(*p);
        CAPTURE(job.story());
        REQUIRE(!rank.empty());
        CHECK(ranks.insert(rank).second);
        CHECK(job.said(*p, rank + " met all"));
        CHECK(job.said(job.first(), line("0", " sees +", rank)));
        CHECK(job.said(job.first(), line("1", " sees +", rank)));
        there.push_back(p);
      }
      if (round == 0) continue;
      program& goes = *there.front();
      there.pop_front();
      const std::string rank = job.rank_of(goes);
      CHECK(job.leaves(goes));
      CAPTURE(job.story());
      CHECK(count(goes.output(), rank + " left\n") == 1);
      CHECK(job.said(job.first(), line("0", " sees -", rank)));
      CHECK(job.said(job.first(), line("1", " sees -", rank)));
      for (program* p : there) CHECK(job.said(*p, line(job.rank_of(*p), " sees -", rank)));
    }
    for (program* p : there) CHECK(job.leaves(*p));
    CHECK(job.ends());
    CAPTURE(job.story());
    CHECK(count(job.story(), ": peer_lost") == 0);
    CHECK(count(job.story(), "wrong") == 0);
  }
  CHECK(leftovers() == "");
}

TEST_CASE("members: one that joined is killed at work, and all others are told") {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  {
    growing_job job(transport, 2);
    program* const joined[] = {&job.start(), &job.start(), &job.start()};
    std::vector<std::string> ranks;
    for (program* p : joined) ranks.push_back(job.rank_of(*p));
    for (std::size_t i = 0; i != 3; ++i) {
      for (const std::string& other : ranks)
        if (other != ranks[i]) CHECK(job.said(*joined[i], line(ranks[i], " sees +", other)));
      CHECK(job.said(*joined[i], ranks[i] + " met all"));
    }
    program& victim = *joined[1];
    const std::string gone = ranks[1];
    ::kill(victim.pid(), SIGKILL);
    victim.wait();
    CAPTURE(job.story());
    for (const std::string who : {"0", "1"}) {
      CHECK(job.said(job.first(), line(who, " sees -", gone)));
      CHECK(job.said(job.first(), who + (" lost " + gone + ": peer_lost,")));
    }
    for (const std::size_t i : {0u, 2u}) {
      CHECK(job.said(*joined[i], line(ranks[i], " sees -", gone)));
      CHECK(job.said(*joined[i], ranks[i] + " lost " + gone + ": peer_lost,"));
    }
    // The others go on, with their ranks, and with a process that joins now.
    program& late = job.start();
    const std::string rank = job.rank_of(late);
    CHECK(rank == "5");
    CHECK(job.said(late, rank + " met all"));
    for (const std::size_t i : {0u, 2u})
      CHECK(job.said(*joined[i], line(ranks[i], " sees +", rank)));
    for (program* p : {joined[0], joined[2], &late}) CHECK(job.leaves(*p));
    CHECK(job.ends());
    CHECK(count(job.story(), " lost ") ==
          count(job.story(), " lost " + gone + ": peer_lost,") + count(job.story(), ": closed,"));
    CHECK(count(job.story(), "wrong") == 0);
  }
  CHECK(leftovers() == "");
}

TEST_CASE("members: those that die while they join leave nothing") {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 dice(seed);
  {
    growing_job job(transport, 1);
    const pid_t host = job.first().pid();
    const auto come_and_die = [&](int how_many) {
      for (int i = 0; i != how_many; ++i) {
        program& one = job.start();
        std::this_thread::sleep_for(std::chrono::microseconds(dice() % 30'000));
        ::kill(one.pid(), SIGKILL);
        one.wait();
      }
    };
    come_and_die(2);  // allocates what is made once only
    program& good = job.start();
    CHECK(job.said(good, job.rank_of(good) + " met all"));
    const std::size_t before = open_descriptors(host);
    come_and_die(20);
    // The port of the transport tcp is opened with the first offer of this side, which may come
    // only now: a process that connects itself needs none.
    constexpr std::size_t of_a_port = 4;
    CHECK(eventually([&] { return open_descriptors(host) <= before + of_a_port; }));
    CAPTURE(job.story());
    CHECK(job.leaves(good));
    program& last = job.start();
    CHECK(job.said(last, job.rank_of(last) + " met all"));
    CHECK(job.leaves(last));
    CHECK(job.ends());
    CHECK(count(job.story(), "wrong") == 0);
    CHECK(count(job.story(), "error") == 0);
  }
  CHECK(leftovers() == "");
}

TEST_CASE("members: many come, work and go, and nothing of them stays") {
  come_and_go(GENERATE(from_range(transports())), 12, 4);
}

TEST_CASE("members: ten thousand come and go over shm", "[.soak]") {
  come_and_go("self,shm", 10'000, 8);
}
TEST_CASE("members: ten thousand come and go over qdma", "[.soak]") {
  if (!weft::tests::has_part("qdma")) return weft::tests::skip("built without qdma");
  come_and_go("self,qdma", 10'000, 8);
}
TEST_CASE("members: ten thousand come and go over tcp", "[.soak]") {
  come_and_go("self,tcp", 10'000, 8);
}

TEST_CASE("members: rank 0 dies while others join: they are told, and those that are in go on") {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  const auto seed = std::random_device{}();
  CAPTURE(seed);
  std::mt19937 dice(seed);
  for (const bool stopped : {true, false, false, false}) {
    growing_job job(transport, 1);
    program* const in[] = {&job.start(), &job.start()};
    for (program* p : in) CHECK(job.said(*p, job.rank_of(*p) + " met all"));
    const pid_t host = job.first().pid();
    if (stopped) ::kill(host, SIGSTOP);
    program* const joining[] = {&job.start(), &job.start()};
    std::this_thread::sleep_for(std::chrono::microseconds(dice() % 30'000));
    ::kill(host, SIGKILL);
    job.first().wait();
    for (program* p : joining) {
      // Either it has just joined, or it ends by itself and says why.
      const auto decided = [&] { return p->has_ended() || count(p->output(), "rank ") != 0; };
      CHECK(eventually(decided));
      CAPTURE(stopped, p->output());
      if (stopped || count(p->output(), "rank ") == 0) {
        CHECK(p->wait() == 3);
        CHECK(count(p->output(), "error ") == 1);
      } else {
        ::kill(p->pid(), SIGTERM);
        p->wait();
      }
    }
    for (program* p : in) {
      const std::string rank = job.rank_of(*p);
      CAPTURE(job.story());
      CHECK(job.said(*p, rank + " lost 0: peer_lost,"));
      CHECK(job.said(*p, rank + " follows nobody"));
    }
    for (program* p : in) ::kill(p->pid(), SIGKILL);
  }
  CHECK(leftovers() == "");
}
