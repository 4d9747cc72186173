// SPDX-License-Identifier: Apache-2.0
// The launcher as users start it: its output, its exit status, and the fate of its ranks.
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "launcher.hpp"
#include "runtime/descriptors/fd.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

namespace {

using weft::unique_fd;
using weft::tests::launcher;
using weft::tests::pipe_ends;
using weft::tests::shell;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines = lines_of(text);
  std::ranges::sort(lines);
  return lines;
}

using strings = std::vector<std::string>;
using weft::tests::contains;

}  // namespace

TEST_CASE("ranks know who they are, and their lines are labelled") {
  launcher job(shell({"-n", "3"},
                     "echo $WEFT_RANK of $WEFT_SIZE, $WEFT_LOCAL_SIZE here; "
                     "echo trouble >&2; printf unfinished"));
  CHECK(job.wait() == 0);
  CHECK(sorted_lines(job.out()) == strings{"[0] 0 of 3, 3 here", "[0] unfinished",
                                           "[1] 1 of 3, 3 here", "[1] unfinished",
                                           "[2] 2 of 3, 3 here", "[2] unfinished"});
  CHECK(sorted_lines(job.err()) == strings{"[0] trouble", "[1] trouble", "[2] trouble"});
}

TEST_CASE("labels can be had and be left out") {
  launcher without(shell({"-n", "2", "--no-label"}, "echo x"));
  CHECK(without.wait() == 0);
  CHECK(without.out() == "x\nx\n");
  launcher alone(shell({"-n", "1"}, "echo x"));
  CHECK(alone.wait() == 0);
  CHECK(alone.out() == "x\n");
  launcher with(shell({"-n", "1", "--label"}, "echo x"));
  CHECK(with.wait() == 0);
  CHECK(with.out() == "[0] x\n");
}

TEST_CASE("lines stay whole, whatever the pieces they are written in") {
  launcher job(shell({"-n", "4"},
                     "i=0; while [ $i -lt 300 ]; do printf aaaa; printf bbbb; echo cccc; "
                     "i=$((i+1)); done"));
  CHECK(job.wait() == 0);
  const strings lines = lines_of(job.out());
  CHECK(lines.size() == 1200);
  for (const std::string& line : lines) {
    REQUIRE(line.size() == 16);
    REQUIRE(line.substr(4) == "aaaabbbbcccc");
  }
}

TEST_CASE("a flood of output arrives complete and in order") {
  launcher job(shell({"-n", "2"}, "seq 1 200000"));
  CHECK(job.wait() == 0);
  std::array<int, 2> next{1, 1};
  for (const std::string& line : lines_of(job.out())) {
    const auto rank = static_cast<std::size_t>(line.at(1) - '0');
    REQUIRE(line.substr(4) == std::to_string(next.at(rank)++));
  }
  CHECK(next == std::array<int, 2>{200001, 200001});
}

TEST_CASE("rank 0 gets the input, the others none") {
  launcher job(shell({"-n", "2"}, "cat"), "to rank 0\n");
  CHECK(job.wait() == 0);
  CHECK(job.out() == "[0] to rank 0\n");
}

TEST_CASE("what cannot be started is said clearly") {
  launcher missing({"-n", "2", "no-such-program-anywhere"});
  CHECK(missing.wait() == 127);
  CHECK_THAT(missing.err(), contains("cannot start 'no-such-program-anywhere'") &&
                                contains("./no-such-program-anywhere"));
  launcher no_program({"-n", "2", "/etc/passwd"});
  CHECK(no_program.wait() == 126);
  CHECK_THAT(no_program.err(), contains("Permission denied"));
}

TEST_CASE("a wrong command line is said clearly") {
  for (const strings& arguments : {strings{},
                                   {"-n", "2"},
                                   {"-n", "0", "true"},
                                   {"true"},
                                   {"-n", "x", "true"},
                                   {"-n", "2", "--what", "true"}}) {
    launcher job(arguments);
    CHECK(job.wait() == 2);
    CHECK_THAT(job.err(), contains("--help"));
  }
  for (const std::string program : {"weft-info", "weft-bench", "heat", "pingpong", "weft-pipe"}) {
    const std::string file = WEFT_TEST_BIN_DIR "/" + program;
    // Some stages are without the samples or the benchmarks.
    if (program != "weft-info" && ::access(file.c_str(), F_OK) != 0) continue;
    CAPTURE(program);
    launcher wrong({"-n", "1", file, "--no-such-option"});
    CHECK(wrong.wait() == 2);
  }
  launcher help({"--help"});
  CHECK(help.wait() == 0);
  CHECK_THAT(help.out(), contains("weft-run -n N") && contains("WEFT_RANK"));
}

TEST_CASE("options of the program are its own") {
  launcher job({"-n", "1", "echo", "-n", "5", "--bind", "--", "x"});
  CHECK(job.wait() == 0);
  CHECK(job.out() == "5 --bind -- x");
  launcher np({"-np", "1", "echo", "-np"});  // as MPI's launchers spell it
  CHECK(np.wait() == 0);
  CHECK(np.out() == "-np\n");
  launcher marked({"-n", "1", "--", "echo", "x"});
  CHECK(marked.wait() == 0);
  CHECK(marked.out() == "x\n");
}

TEST_CASE("the exit status is that of the rank that failed first") {
  launcher failed(shell({"-n", "3"}, "test $WEFT_RANK != 1 || exit 42"));
  CHECK(failed.wait() == 42);
  CHECK_THAT(failed.err(), contains("weft-run: rank 1 (pid ") && contains("ended with status 42"));
  launcher killed(shell({"-n", "3"}, "test $WEFT_RANK != 2 || kill -SEGV $$"));
  CHECK(killed.wait() == 128 + SIGSEGV);
  CHECK_THAT(killed.err(),
             contains("weft-run: rank 2 (pid ") && contains("was killed by signal 11 (Segm"));
  CHECK_THAT(killed.err(), !contains("failures"));
  // Rank 0 fails when weft-run has seen the end of rank 1.
  launcher both(shell({"-n", "2"},
                      "f=${TMPDIR:-/tmp}/weft-first-$PPID; "
                      "if test $WEFT_RANK = 1; then echo $$ >$f.new; mv $f.new $f; exit 42; fi; "
                      "until test -e $f; do sleep 0.01; done; p=$(cat $f); rm $f; "
                      "while test -d /proc/$p; do sleep 0.01; done; exit 1"));
  CHECK(both.wait() == 42);
  CHECK_THAT(both.err(), contains("the first of 2 failures: rank 1 (pid "));
}

TEST_CASE("a crash leaves the others alone, unless asked otherwise") {
  launcher alone(shell({"-n", "2"}, "test $WEFT_RANK = 0 && kill -9 $$; sleep 0.2; echo I live"));
  CHECK(alone.wait() == 128 + SIGKILL);
  CHECK(alone.out() == "[1] I live\n");
  // Rank 1 would wait for ever.
  launcher asked(
      shell({"-n", "2", "--kill-on-failure"}, "test $WEFT_RANK = 0 && exit 7; exec sleep 1000"));
  CHECK(asked.wait() == 7);
  launcher deaf(shell({"-n", "2", "--kill-on-failure", "--grace", "0.1"},
                      "trap '' TERM; test $WEFT_RANK = 0 && exit 7; while :; do sleep 1; done"));
  CHECK(deaf.wait() == 7);
}

TEST_CASE("ranks that run for too long say what they wait for, and are ended") {
  launcher deaf(shell({"-n", "2", "--timeout", "0.5", "--grace", "0.1"},
                      "trap '' QUIT TERM; while :; do sleep 1; done"));
  CHECK(deaf.wait() == 124);
  CHECK_THAT(deaf.err(), contains("2 of 2 ranks still run after 0.5 seconds (--timeout)"));
  CHECK_THAT(deaf.err(), !contains("was killed by"));
  launcher quick({"-n", "2", "--timeout", "30", "true"});
  CHECK(quick.wait() == 0);
  launcher failed(
      shell({"-n", "2", "--timeout", "0.5"}, "test $WEFT_RANK = 0 && exit 7; exec sleep 1000"));
  CHECK(failed.wait() == 7);
}

TEST_CASE("what each rank prints can go to files") {
  std::string folder = "/tmp/weft-output-XXXXXX";
  REQUIRE(::mkdtemp(folder.data()));
  const std::string inner = folder + "/results";
  launcher job(
      shell({"-n", "2", "--output", inner}, "echo to $WEFT_RANK; echo bad >&2; exit $WEFT_RANK"));
  CHECK(job.wait() == 1);
  CHECK(job.out().empty());
  CHECK_THAT(job.err(), contains("see " + inner + "/rank.1.err"));
  for (const std::string rank : {"0", "1"}) {
    std::ifstream out(inner + "/rank." + rank + ".out"), err(inner + "/rank." + rank + ".err");
    std::string line;
    CHECK((std::getline(out, line) && line == "to " + rank));
    CHECK((std::getline(err, line) && line == "bad"));
  }
  // A smaller job into the same folder removes what it would have written itself, and nothing else.
  const std::vector<std::string> others{"rank.01.out",         "rank.1.txt", "rank.x.err",
                                        "rank.4294967296.out", "notes",      "rank.-1.out"};
  for (const std::string& name : others) std::ofstream(inner + "/" + name) << "mine\n";
  std::filesystem::create_directory(inner + "/rank.7.out");
  launcher smaller(shell({"-n", "1", "--output", inner}, "echo again"));
  CHECK(smaller.wait() == 0);
  CHECK(std::filesystem::exists(inner + "/rank.0.out"));
  CHECK_FALSE(std::filesystem::exists(inner + "/rank.1.out"));
  CHECK_FALSE(std::filesystem::exists(inner + "/rank.1.err"));
  for (const std::string& name : others) CHECK(std::filesystem::exists(inner + "/" + name));
  CHECK(std::filesystem::exists(inner + "/rank.7.out"));
  std::filesystem::remove_all(folder);
  launcher nowhere({"-n", "1", "--output", "/proc/here", "true"});
  CHECK(nowhere.wait() == 1);
  CHECK_THAT(nowhere.err(), contains("/proc/here"));
}

TEST_CASE("signals are passed on to all ranks") {
  for (const auto& [number, name] :
       {std::pair{SIGINT, "INT"}, {SIGTERM, "TERM"}, {SIGHUP, "HUP"}}) {
    CAPTURE(name);
    launcher job(shell({"-n", "2"}, std::string("trap 'echo got it; exit 5' ") + name +
                                        "; echo ready $WEFT_RANK; while :; do sleep 0.01; done"));
    job.wait_for_output("ready 0");
    job.wait_for_output("ready 1");
    job.signal(number);
    CHECK(job.wait() == 5);
    CHECK(sorted_lines(job.out()) ==
          strings{"[0] got it", "[0] ready 0", "[1] got it", "[1] ready 1"});
  }
  launcher job(shell({"-n", "2"}, "echo ready $WEFT_RANK; while :; do sleep 0.01; done"));
  job.wait_for_output("ready 0");
  job.wait_for_output("ready 1");
  job.signal(SIGTERM);
  CHECK(job.wait() == 128 + SIGTERM);
  CHECK(job.err().empty());
}

TEST_CASE("the second SIGINT or SIGTERM kills") {
  const int number = GENERATE(SIGINT, SIGTERM);
  CAPTURE(number);
  launcher job(shell({"-n", "2"},
                     "trap 'echo no' INT TERM; echo ready $WEFT_RANK; "
                     "while :; do sleep 0.01; done"));
  job.wait_for_output("ready 0");
  job.wait_for_output("ready 1");
  job.signal(number);
  job.wait_for_output("[0] no");
  job.wait_for_output("[1] no");
  job.signal(number);
  CHECK(job.wait() == 128 + SIGKILL);
  CHECK_THAT(job.err(), contains("killed"));
}

TEST_CASE("ranks die with their launcher") {
  // Only the ranks hold this pipe: its end is the end of all of them.
  pipe_ends life;
  REQUIRE(::fcntl(life.write.get(), F_SETFD, 0) == 0);
  std::optional<launcher> job(std::in_place,
                              shell({"-n", "3"}, "echo ready $WEFT_RANK; exec sleep 1000"));
  life.write = unique_fd();
  for (const char* each : {"ready 0", "ready 1", "ready 2"}) job->wait_for_output(each);
  job->signal(SIGKILL);
  pollfd end{life.read.get(), POLLIN, 0};
  CHECK(::poll(&end, 1, 30000) == 1);
  CHECK((end.revents & POLLHUP) != 0);
}

TEST_CASE("what a rank left running goes with it") {
  launcher job(shell({"-n", "2"}, "sleep 1000 & echo left"));
  CHECK(job.wait() == 0);
  CHECK(sorted_lines(job.out()) == strings{"[0] left", "[1] left"});
}

TEST_CASE("who stops reading ends the ranks that write") {
  launcher job(shell({"-n", "1"}, "exec " WEFT_TEST_BIN_DIR "/weft-run -n 2 yes | head -n 2"));
  CHECK(job.wait() == 0);
  CHECK(lines_of(job.out()).size() == 2);
}

TEST_CASE("ranks are pinned round the cores") {
  const char* show = "grep Cpus_allowed_list /proc/self/status";
  launcher own(shell({"-n", "1"}, show));
  CHECK(own.wait() == 0);
  launcher job(shell({"-n", "3", "--bind", "--no-label"}, show));
  CHECK(job.wait() == 0);
  const strings lines = lines_of(job.out());
  REQUIRE(lines.size() == 3);
  // One core each: no ranges, no lists.
  for (const std::string& line : lines) CHECK(line.find_first_of(",-") == std::string::npos);
}

TEST_CASE("a bound rank's progress thread runs on a core that no rank is bound to") {
  cpu_set_t own;
  REQUIRE(::sched_getaffinity(0, sizeof own, &own) == 0);
  if (CPU_COUNT(&own) != 2 || ::sysconf(_SC_NPROCESSORS_ONLN) != 2)
    return weft::tests::skip("it is for two cores");
  const char* program = WEFT_TEST_BIN_DIR "/tests/progress_cores";
  launcher one({"-n", "1", "--bind", "--no-label", program, "1"});
  CHECK(one.wait() == 0);
  CHECK_THAT(one.out(), contains("1: progress thread: on core 1; free cores"));
  launcher two(shell({"-n", "2", "--bind"}, std::string("exec ") + program + " $WEFT_RANK"));
  CHECK(two.wait() == 0);
  CHECK_THAT(two.out(), contains("[0] 0: progress thread: on core 0, inherited; no core is free"));
  CHECK_THAT(two.out(), contains("[1] 1: progress thread: on core 1, inherited; no core is free"));
  // A shell around the program is not bound, and has the same rank.
  launcher inside(shell({"-n", "1", "--no-label"}, std::string("taskset -c 0 ") + program + " 1"));
  CHECK(inside.wait() == 0);
  CHECK_THAT(inside.out(), contains("1: progress thread: on core 1; free cores"));
  launcher loose(shell({"-n", "2", "--no-label"}, std::string("exec ") + program + " 0-1"));
  CHECK(loose.wait() == 0);
  CHECK_THAT(loose.out(), contains("0-1, inherited; it may run on every core"));
}

TEST_CASE("a progress thread stays where the whole job was confined") {
  const std::string program = WEFT_TEST_BIN_DIR "/tests/progress_cores";
  const std::string confined = "exec taskset -c 0 " WEFT_TEST_BIN_DIR "/weft-run -n 1 --no-label ";
  launcher bound(shell({"-n", "1", "--no-label"}, confined + "--bind " + program + " 0"));
  launcher alone(shell({"-n", "1", "--no-label"},
                       "exec env -u WEFT_JOB -u WEFT_RANK taskset -c 0 " + program + " 0"));
  CHECK(bound.wait() == 0);
  CHECK_THAT(bound.out(),
             contains("0: progress thread: on core 0, inherited; it may run on every"));
  CHECK(alone.wait() == 0);
  CHECK_THAT(alone.out(), contains("0: progress thread: on core 0, inherited; no launcher"));
}

TEST_CASE("WEFT_PROGRESS_CPUS names the cores of progress threads") {
  const std::string program = WEFT_TEST_BIN_DIR "/tests/progress_cores";
  launcher absent(shell({"-n", "1", "--no-label"}, "WEFT_PROGRESS_CPUS=1023 exec " + program));
  launcher listed(shell({"-n", "1", "--no-label"}, "WEFT_PROGRESS_CPUS=0 exec " + program + " 0"));
  launcher kept(shell({"-n", "1", "--bind", "--no-label"},
                      "WEFT_PROGRESS_CPUS=inherit exec " + program + " 0"));
  CHECK(listed.wait() == 0);
  CHECK_THAT(listed.out(), contains("as WEFT_PROGRESS_CPUS says"));
  CHECK(kept.wait() == 0);
  CHECK_THAT(kept.out(), contains("inherited; as WEFT_PROGRESS_CPUS says"));
  CHECK(absent.wait() == 1);
  CHECK_THAT(absent.err(), contains("\"1023\", but the kernel grants none of these cores"));
  CHECK_THAT(absent.err(), contains("name some of "));
}

TEST_CASE("programs of a rank's command meet one after the other") {
  launcher job(shell(
      {"-n", "3"}, "for i in 1 2 3 4 5; do " WEFT_TEST_BIN_DIR "/tests/contexts || exit 1; done"));
  CHECK(job.wait() == 0);
  CHECK(lines_of(job.out()).size() == 15);
  CHECK(job.err().empty());
}

TEST_CASE("a rank has one context in the job at a time") {
  launcher job({"-n", "2", WEFT_TEST_BIN_DIR "/tests/contexts", "two"});
  CHECK(job.wait() == 0);
  CHECK(sorted_lines(job.out()) == strings{"[0] fine", "[1] fine"});
  CHECK(job.err().empty());
}

TEST_CASE("a rank that the job does not have is refused with the ranks that it has") {
  launcher job({"-n", "2", WEFT_TEST_BIN_DIR "/tests/crowd"});
  CHECK(job.wait() == 1);
  CHECK_THAT(job.err(),
             contains("crowd: there is no rank 2 in a group of 2; its ranks are 0 to 1"));
}

TEST_CASE("a rank that ends before it was met is told as such, whatever follows it") {
  launcher job(shell({"-n", "2", "--kill-on-failure"},
                     "test $WEFT_RANK = 1 && exit 0; exec " WEFT_TEST_BIN_DIR "/tests/contexts"));
  CHECK(job.wait() == 1);
  CHECK_THAT(job.err(), contains("left"));
}

TEST_CASE("without descriptors the cure is named") {
  if (WEFT_TEST_SANITIZED) return weft::tests::skip("the sanitizer needs descriptors of its own");
  launcher job(shell({"-n", "1"}, "ulimit -n 8; exec " WEFT_TEST_BIN_DIR "/weft-run -n 2 true"));
  CHECK(job.wait() == 1);
  CHECK_THAT(job.err(), contains("weft-run: ") && contains("ulimit -n"));
}

TEST_CASE("a closed standard descriptor does no harm") {
  launcher job(shell({"-n", "1"}, "exec <&-; exec 2>&-; exec " WEFT_TEST_BIN_DIR
                                  "/weft-run -n 2 sh -c 'echo fine'"));
  CHECK(job.wait() == 0);
  CHECK(sorted_lines(job.out()) == strings{"[0] fine", "[1] fine"});
}

TEST_CASE("the ends of ranks are known under a parent that ignores SIGCHLD") {
  launcher job(shell({"-n", "1"}, "trap '' CHLD; exec " WEFT_TEST_BIN_DIR
                                  "/weft-run -n 2 sh -c 'test $WEFT_RANK = 0 || exit 3'"));
  CHECK(job.wait() == 3);
}

TEST_CASE("ranks start with the signals and limits that weft-run was started with") {
  const std::string show = "grep Sig[BI] /proc/self/status; ulimit -n";
  launcher job(shell({"-n", "1"}, "trap '' CHLD PIPE USR1; ulimit -S -n 999; " + show +
                                      "; exec " WEFT_TEST_BIN_DIR "/weft-run -n 1 sh -c '" + show +
                                      "'"));
  CHECK(job.wait() == 0);
  const strings lines = lines_of(job.out());
  REQUIRE(lines.size() == 6);
  for (std::size_t i = 0; i != 3; ++i) CHECK(lines[i] == lines[i + 3]);
}

TEST_CASE("output beyond the limit on file size is an error, and the ranks go on") {
  launcher job(shell({"-n", "1"},
                     "f=${TMPDIR:-/tmp}/weft-output-$$; trap 'rm $f' EXIT; "
                     "(ulimit -f 8; exec " WEFT_TEST_BIN_DIR
                     "/weft-run -n 2 sh -c 'seq 1 9999; echo done >&2' >$f)"));
  CHECK(job.wait() == 1);
  CHECK_THAT(job.err(), contains("File too large") && contains("the ranks go on") &&
                            contains("[0] done") && contains("[1] done"));
}

TEST_CASE("under a limit on file size that shared memory exceeds, a job has other transports") {
  const std::string limited = "ulimit -f 8; export WEFT_TRANSPORTS=self,shm,tcp; exec ";
  launcher job(shell({"-n", "2"}, limited + WEFT_TEST_BIN_DIR "/tests/contexts"));
  CHECK(job.wait() == 0);
  CHECK(job.err() == "");
  launcher why(shell({"-n", "2"}, limited + WEFT_TEST_BIN_DIR "/weft-info --why rank:1"));
  CHECK(why.wait() == 0);
  CHECK(why.err() == "");
  CHECK_THAT(why.out(), contains("shm    not used") && contains("ulimit -f"));
}
