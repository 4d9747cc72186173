// SPDX-License-Identifier: Apache-2.0
// weft-info --attach: the dump of a process that goes on, and why there is none.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "launcher.hpp"
#include "support/catch.hpp"

using nlohmann::json;
using weft::tests::contains;

namespace {

struct answer {
  int status;
  std::string text;
};

/// \param before a command in front of it
answer attach(pid_t pid, const std::string& how = "", const std::string& before = "") {
  const std::string command = before + " " WEFT_TEST_BIN_DIR "/weft-info --attach " +
                              std::to_string(pid) + " " + how + " 2>&1";
  FILE* const pipe = ::popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::string text;
  char some[4096];
  for (std::size_t n; (n = std::fread(some, 1, sizeof some, pipe)) != 0;) text.append(some, n);
  const int status = ::pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> all;
  const std::string of = std::to_string(pid);
  std::ifstream children("/proc/" + of + "/task/" + of + "/children");
  for (pid_t child = 0; children >> child;) all.push_back(child);
  return all;
}

/// The pid of a rank.
pid_t rank_of(const weft::tests::launcher& job, int rank) {
  for (const pid_t child : children_of(job.pid())) {
    std::ifstream in("/proc/" + std::to_string(child) + "/environ");
    const std::string all{std::istreambuf_iterator<char>(in), {}};
    if (all.find("WEFT_RANK=" + std::to_string(rank) + '\0') != all.npos) return child;
  }
  FAIL("there is no rank " << rank);
  return 0;
}

std::vector<std::string> stuck_job(std::vector<std::string> arguments = {}) {
  std::vector<std::string> all{"-n", "2", WEFT_TEST_BIN_DIR "/tests/stuck"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return all;
}

/// A child that sleeps, without a context.
struct sleeper {
  pid_t pid = ::fork();
  sleeper() {
    if (pid != 0) return;
    ::execlp("sleep", "sleep", "1000", nullptr);
    ::_exit(99);
  }
  ~sleeper() {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
};

}  // namespace

TEST_CASE("attach: what a stuck rank waits for, as text and as JSON, and it goes on") {
  weft::tests::launcher job(stuck_job());
  job.wait_for_output("[0] stuck");
  job.wait_for_output("[1] stuck");
  const pid_t first = rank_of(job, 0), second = rank_of(job, 1);
  const answer text = attach(first);
  CHECK(text.status == 0);
  for (const char* line :
       {"weft: rank 0: receive from rank 1, tag 7, 64 bytes: no message has come",
        "weft: rank 0: send to rank 1, tag 8, 1048576 bytes: ",
        "weft: rank 0: call of handler 3 at rank 1: no reply has come",
        "weft: rank 0: connection to rank 1: open, "})
    CHECK_THAT(text.text, contains(line));

  const answer by_json = attach(second, "--json");
  CAPTURE(by_json.text);
  REQUIRE(by_json.status == 0);
  const json all = json::parse(by_json.text);
  CHECK(all.at("pid") == second);
  CHECK(all.at("rank") == 1);
  CHECK(all.at("size") == 2);
  const json& lane = all.at("lanes").at(0);
  CHECK(lane.at("stuck") == false);
  CHECK(lane.at("served") == 1);
  const json& message = lane.at("messages").at(0);
  CHECK(message.at("kind") == "message");
  CHECK(message.at("peer") == 0);
  CHECK(message.at("tag") == 9);
  CHECK(message.at("bytes") == 100);
  CHECK(lane.at("connections").at(0).at("peer") == 0);

  CHECK(attach(first).status == 0);  // again
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("attach: a process whose sockets are files in a folder, and one whose folder is gone") {
  std::string folder = "/tmp/weft-attach-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()));
  REQUIRE(::setenv("WEFT_SOCKET_DIR", folder.c_str(), 1) == 0);
  weft::tests::launcher job(stuck_job());
  ::unsetenv("WEFT_SOCKET_DIR");
  job.wait_for_output("[0] stuck");
  job.wait_for_output("[1] stuck");
  const answer text = attach(rank_of(job, 0));
  CHECK(text.status == 0);
  CHECK_THAT(text.text, contains("call of handler 3 at rank 1: no reply has come"));
  std::filesystem::remove_all(folder);
  const answer none = attach(rank_of(job, 0));
  CHECK(none.status == 1);
  CHECK_THAT(none.text, contains("its socket is gone from " + folder));
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("attach: a rank that hangs in an inline handler says so") {
  weft::tests::launcher job(stuck_job({"inline"}));
  job.wait_for_output("[1] stuck");
  const answer text = attach(rank_of(job, 1));
  CHECK(text.status == 0);
  CHECK_THAT(text.text, contains("a thread has held the progress lock for a second"));
  const json all = json::parse(attach(rank_of(job, 1), "--json").text);
  CHECK(all.at("lanes").at(0).at("stuck") == true);
  const answer caller = attach(rank_of(job, 0));
  CHECK_THAT(caller.text, contains("call of handler 3 at rank 1: no reply has come"));
  job.signal(SIGKILL);
  for (const pid_t child : children_of(job.pid())) ::kill(child, SIGKILL);
}

TEST_CASE("attach: a stopped process is named as that") {
  weft::tests::launcher job(stuck_job());
  job.wait_for_output("[0] stuck");
  job.wait_for_output("[1] stuck");
  const pid_t first = rank_of(job, 0);
  ::kill(first, SIGSTOP);
  const answer none = attach(first);
  CHECK(none.status == 1);
  CHECK_THAT(none.text, contains("does not answer, because it is stopped") &&
                            contains("kill -CONT " + std::to_string(first)));
  ::kill(first, SIGCONT);
  CHECK(attach(first).status == 0);
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
}

TEST_CASE("attach: no process, no context, a launcher, and another user are named") {
  const sleeper other;
  answer none = attach(other.pid);
  CHECK(none.status == 1);
  CHECK_THAT(none.text, contains("has no weft context"));
  none = attach(0x3fffffff);
  CHECK(none.status == 1);
  CHECK_THAT(none.text, contains("there is no process 1073741823"));
  none = attach(-4);
  CHECK(none.status == 2);

  weft::tests::launcher job(stuck_job());
  job.wait_for_output("[0] stuck");
  job.wait_for_output("[1] stuck");
  none = attach(job.pid());
  CHECK(none.status == 1);
  CHECK_THAT(none.text, contains("is a launcher") &&
                            contains("--attach " + std::to_string(children_of(job.pid())[0])));
  if (::geteuid() == 0) {
    none = attach(rank_of(job, 0), "", "setpriv --reuid 65534 --clear-groups");
    CHECK(none.status == 1);
    CHECK_THAT(none.text, contains("belongs to the user root") && contains("sudo -u root"));
  }
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
}
