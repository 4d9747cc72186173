// SPDX-License-Identifier: Apache-2.0
// Thousands of bad connections to all TCP ports of a job that is at work: the job goes on, the
// Bad clients receive nothing, and they leave nothing behind.
#include <iostream>
#include <numeric>

#include "bad_clients.hpp"
#include "job.hpp"
#include "support/catch.hpp"
#include "wireup/auth/job_key.hpp"

using namespace fault;

namespace {

void withstand(int many, const std::string& mode) {
  const std::string& missing = enter_private_world();
  const auto seed = std::random_device{}();
  CAPTURE(seed, mode, missing);
  {
    job j({"self,tcp"}, mode, "", {},
          {"WEFT_JOB_KEY=" + weft::wireup::job_key::random().to_text()});
    REQUIRE(eventually([&] {
      return j.launcher().has_ended() || std::ranges::all_of(std::array{0, 1, 2, 3}, [&](int r) {
               return j.notes().flows_with(static_cast<std::size_t>(r), 3);
             });
    }));
    const std::vector<pid_t> pids = j.pids();
    CAPTURE(j.launcher().output());
    REQUIRE(pids.size() == ranks);

    std::vector<sockaddr_in> places;
    for (const pid_t pid : pids)
      for (const sockaddr_in& at : listening_places(pid)) places.push_back(at);
    // The control plane's listener of each rank, and for each pair the transport's listener of at
    // least one of the two.
    REQUIRE(places.size() > ranks);

    bad_clients all(places, seed, 100);
    const auto descriptors = [&] {
      std::vector<std::size_t> of;
      for (const pid_t pid : pids) of.push_back(open_descriptors(pid));
      return of;
    };
    const auto memory = [&] {
      std::vector<std::size_t> of;
      for (const pid_t pid : pids) of.push_back(memory_of(pid));
      return of;
    };
    const std::vector<std::size_t> before = descriptors();
    all.come(100);  // allocates what is made once only
    const std::vector<std::size_t> kib_before = memory();
    const std::uint64_t messages = j.notes().received();

    all.come(many);
    const std::uint64_t meanwhile = j.notes().received() - messages;
    all.go();

    // Bad clients cannot use up all places: 64 wait at each port, and one more makes the server
    // close the oldest.
    const std::vector<sockaddr_in> of_rank_0 = listening_places(pids[0]);
    bad_clients silent(of_rank_0, seed, 500);
    silent.come(400, bad_clients::manner::silent);
    CHECK(eventually([&] { return silent.present() <= 64 * of_rank_0.size(); }));
    CHECK(open_descriptors(pids[0]) <= before[0] + 64 * of_rank_0.size() + 1);
    silent.go();

    CHECK(all.came() == many + 100);
    CHECK(all.complaints() == "");
    CHECK(silent.complaints() == "");
    CHECK(meanwhile > 0);
    CHECK(eventually([&] { return descriptors() == before; }));
    const std::vector<std::size_t> kib_after = memory();
    if (!sanitized)
      for (std::size_t r = 0; r != ranks; ++r) CHECK(kib_after[r] < kib_before[r] + 4096);

    j.notes().please_end = 1;
    CHECK(j.launcher().wait() == 0);  // every message was right: programs/traffic.cpp checks that
    for (const rank_notes& r : j.notes().rank) CHECK(r.ended_well == 1);
    const std::string said = j.launcher().output();
    CAPTURE(said);
    for (const std::string line :
         {" was turned away: ", "a process connected to the TCP transport"}) {
      CHECK(count(said, line) >= 1);
      CHECK(count(said, line) <= ranks);  // said once by each
    }
    CHECK(count(said, "weft: ") <= 2 * ranks);
    std::cout << all.came() << " bad clients, " << meanwhile
              << " messages meanwhile; KiB of rank 0: " << kib_before[0] << ", then "
              << kib_after[0] << '\n';
  }
  CHECK(leftovers() == "");
}

}  // namespace

TEST_CASE("bad clients: 300 bad connections to a job that is at work") {
  withstand(300, GENERATE("dedicated", "polling", "interrupt"));
}
TEST_CASE("bad clients: 10000 bad connections to a job that is at work", "[.soak]") {
  withstand(10'000, "dedicated");
}
