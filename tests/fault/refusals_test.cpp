// SPDX-License-Identifier: Apache-2.0
// System calls that are refused, one at a time and as a default container does. The result is a
// fall-back that is named once, or an error that tells cause and cure.
#include <cstring>
#include <iostream>

#include "job.hpp"
#include "support/catch.hpp"
#include "support/parts.hpp"
#include "support/skip.hpp"

using namespace fault;

namespace {

const std::string info_program = bin + "/weft-info";

/// What weft does without a system call.
struct consequence {
  std::string call;
  bool works;          ///< messages are exchanged nevertheless
  std::string named;   ///< weft-info prints this, with the reason and `cure`
  std::string cure;    ///< how to mend it
  std::string in_use;  ///< how a context or endpoint without the call describes itself
};

const consequence consequences[] = {
    {"io_uring", true, "io_uring_setup: ", "epoll does the same",
     "sleeps in epoll (io_uring_setup: "},
    {"process_vm_readv", true, "process_vm_readv: ", "copied through the ring",
     "cma off: process_vm_readv: "},
    {"process_vm_writev", true, "", "", ""},
    {"pidfd_open", true, "pidfd_open: ", "allow pidfd_open(2)", ""},
    {"sched_setattr", true, "sched_setattr: ", "allow sched_setattr(2)", ""},
    {"membarrier", true, "membarrier: ", "allow membarrier(2)",
     "membarrier refused, so senders fence for themselves"},
    {"setpriority", true, "", "", ""},
    {"memfd_create", false, "memfd_create: ", "allow it", ""},
    {"eventfd2", false, "eventfd: ", "allow it", ""},
};

std::string line_with(const std::string& text, const std::string& what) {
  const std::size_t at = text.find(what);
  if (at == text.npos) return {};
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

/// Whether this build makes that call.
bool is_used(const consequence& c) {
  return c.call != "io_uring" || weft::tests::has_part("uring");
}

/// Whether `o` comes from a machine on which nothing can be refused.
bool cannot_refuse(const outcome& o) {
  if (o.status != weft::tests::skip_exit_code) return false;
  weft::tests::skip(o.output);
  return true;
}

/// The number of a rank's peers from which process_vm_readv would read.
std::size_t users_of_cma(const std::string& transport) {
  return transport == "self,tcp" ? 0 : ranks - 1;
}

outcome short_job(const std::string& transport, std::vector<std::string> what) {
  what.insert(what.begin(), refuse_program);
  what.emplace_back("--");
  job j({transport}, "dedicated", "300", std::move(what));
  const int status = j.launcher().wait();
  return {status, j.launcher().output()};
}

}  // namespace

TEST_CASE("refused: a job does without a system call, or says what it lacks") {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  const std::string code = GENERATE(as<std::string>{}, "EPERM", "ENOSYS");
  for (const consequence& c : consequences) {
    if (!is_used(c)) continue;
    CAPTURE(c.call, code);
    const outcome o = short_job(transport, {c.call + "=" + code});
    if (cannot_refuse(o)) return;
    CAPTURE(o.output);
    CHECK(o.status == (c.works ? 0 : 1));
    const std::string reason = std::strerror(code == "EPERM" ? EPERM : ENOSYS);
    if (!c.works) {
      const std::string line = line_with(o.output, c.named);
      CHECK(count(line, reason) == 1);
      CHECK(count(line, c.cure) == 1);
      CHECK(count(o.output, c.named) == ranks);  // once for each rank
    } else if (!c.in_use.empty()) {
      // Once for the context, or for each peer whose transport would use the call.
      const std::size_t for_peers = c.call == "process_vm_readv" ? users_of_cma(transport) : 1;
      CHECK(count(o.output, c.in_use) == for_peers);
    }
    CHECK(leftovers() == "");
  }
}

TEST_CASE("refused: weft-info names what is missing, why, and the cure") {
  const std::string code = GENERATE(as<std::string>{}, "EPERM", "ENOSYS");
  const std::string reason = std::strerror(code == "EPERM" ? EPERM : ENOSYS);
  for (const consequence& c : consequences) {
    if (c.named.empty() || !is_used(c)) continue;
    const outcome o = run({refuse_program, c.call + "=" + code, "--", info_program});
    if (cannot_refuse(o)) return;
    CAPTURE(c.call, code, o.output);
    CHECK(o.status == (c.works ? 0 : 1));
    CHECK(count(line_with(o.output, c.named), reason) == 1);
    CHECK(count(o.output, c.cure) >= 1);
  }
}

TEST_CASE("refused: a job in a default container, its reasons said once") {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  const outcome o = short_job(transport, {"container"});
  if (cannot_refuse(o)) return;
  CAPTURE(o.output);
  CHECK(o.status == 0);
  CHECK(count(o.output, weft::tests::has_part("uring") ? "sleeps in epoll (io_uring_setup: "
                                                       : "sleeps in epoll (weft was built") == 1);
  CHECK(count(o.output, "cma off: process_vm_readv: ") == users_of_cma(transport));
  CHECK(leftovers() == "");
}

TEST_CASE("refused: /dev/shm of 64 MB, or none, makes no difference") {
  enter_private_world();
  const std::string transport = GENERATE(from_range(transports()));
  const std::string size = GENERATE(as<std::string>{}, "64m", "4k", "none");
  const outcome o = short_job(transport, {"shm=" + size});
  if (cannot_refuse(o)) return;
  CAPTURE(size, o.output);
  CHECK(o.status == 0);
  CHECK(leftovers() == "");
}
