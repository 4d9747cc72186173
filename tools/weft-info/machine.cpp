// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <thread>
#include <utility>

#include "runtime/descriptors/fd.hpp"
#include "runtime/descriptors/rights.hpp"
#include "runtime/files/file_calls.hpp"
#include "runtime/os/cpu_set.hpp"
#include "runtime/os/membarrier.hpp"
#include "runtime/sleep/wait_set.hpp"
#include "transports/shm/factory.hpp"

namespace weft::info {

namespace {

finding kernel() {
  utsname name{};
  ::uname(&name);
  int major = 0, minor = 0;
  const bool known = std::sscanf(name.release, "%d.%d", &major, &minor) == 2;
  const bool old = known && (major < 5 || (major == 5 && minor < 10));
  return {"kernel", name.release, old ? "weft is meant for 5.10 and later" : ""};
}

finding cores() {
  const std::size_t own = runtime::cpus_of(0).count();
  return {"cores", fmt::format("{} of {}", own, ::sysconf(_SC_NPROCESSORS_ONLN)),
          own == 1 ? "with one core the progress thread and the application take turns" : ""};
}

finding wait_set() {
  const runtime::wait_set_choice choice = runtime::make_wait_set("auto");
  if (choice.reason.empty()) return {"wait set", choice.set->name(), ""};
  return {"wait set", fmt::format("{} ({})", choice.set->name(), choice.reason),
          "epoll does the same; a look at quiet descriptors costs a system call more"};
}

finding files() {
  const std::string reason = runtime::probe_file_ring();
  if (reason.empty()) return {"files", "io_uring", ""};
  return {"files", fmt::format("threads ({})", reason),
          "threads do the same; a read of cached data costs two wake-ups more"};
}

finding membarrier() {
  if (runtime::join_heavy_fences() && runtime::heavy_fence()) return {"membarrier", "works", ""};
  return {"membarrier", fmt::format("membarrier: {}", std::strerror(errno)),
          "every sender pays a fence per message; allow membarrier(2) in the seccomp profile"};
}

finding shared_memory() {
  const std::string missing = transports::shm::probe();
  if (missing.empty()) return {"shared memory", "memfd works", ""};
  return {"shared memory", missing, "the transport shm is not used without it"};
}

finding cma() {
  const std::string missing = try_reading_another_process();
  if (missing.empty()) return {"cma", "process_vm_readv works", ""};
  return {
      "cma", missing,
      "large messages are copied through the ring instead, which takes both sides; allow it with "
      "the capability SYS_PTRACE, or kernel.yama.ptrace_scope=0"};
}

finding pidfd() {
  const long fd = ::syscall(SYS_pidfd_open, ::getpid(), 0);
  if (fd < 0)
    return {"pidfd", fmt::format("pidfd_open: {}", std::strerror(errno)),
            "a peer's death is seen by the end of its connection only; allow pidfd_open(2)"};
  ::close(static_cast<int>(fd));
  return {"pidfd", "works", ""};
}

/// For the files of WEFT_SOCKET_DIR.
finding inotify() {
  const unique_fd fd(::inotify_init1(IN_CLOEXEC));
  if (fd) return {"inotify", "works", ""};
  return {"inotify", fmt::format("inotify_init1: {}", std::strerror(errno)),
          "nothing is said when the files of a WEFT_SOCKET_DIR are removed under a process; raise "
          "fs.inotify.max_user_instances"};
}

finding refused_descriptors() {
  const unique_fd socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (socket && runtime::let_descriptors_in(socket.get(), false))
    return {"SO_PASSRIGHTS", "works", ""};
  return {"SO_PASSRIGHTS", "not available",
          "what other users send to sockets of weft has to be closed; kernel 6.16 refuses it"};
}

/// The argument of sched_setattr; glibc of Debian 12 has no declaration.
struct scheduling {
  std::uint32_t size, policy;
  std::uint64_t flags;
  std::int32_t nice;
  std::uint32_t priority;
  std::uint64_t runtime, deadline, period;
};

finding scheduler_slices() {
  bool taken = false;
  int fault = 0;
  std::thread([&] {
    scheduling wanted{sizeof wanted, SCHED_OTHER, 0, 0, 0, 100'000, 0, 0};
    scheduling got{};
    if (::syscall(SYS_sched_setattr, 0, &wanted, 0) != 0)
      fault = errno;
    else
      taken = ::syscall(SYS_sched_getattr, 0, &got, sizeof got, 0) == 0 &&
              got.runtime == wanted.runtime;
  }).join();
  if (taken) return {"scheduler slices", "0.1 ms can be asked for", ""};
  if (fault != 0)
    return {"scheduler slices", fmt::format("sched_setattr: {}", std::strerror(fault)),
            "the progress thread gets its turn later when all cores compute; allow "
            "sched_setattr(2)"};
  return {"scheduler slices", "not to be chosen",
          "the progress thread gets its turn later when all cores compute; kernel 6.12 has them"};
}

std::string limit_text(rlim_t l, bool in_bytes) {
  if (l == RLIM_INFINITY) return "unlimited";
  return in_bytes ? fmt::format("{} KiB", l / 1024) : fmt::format("{}", l);
}

finding limit(const char* name, int which, bool in_bytes, rlim_t enough, const char* cure) {
  rlimit now{};
  ::getrlimit(static_cast<__rlimit_resource>(which), &now);
  return {name, limit_text(now.rlim_cur, in_bytes),
          now.rlim_cur < enough ? std::string(cure) : std::string()};
}

std::vector<finding> limits() {
  return {
      limit("locked memory", RLIMIT_MEMLOCK, true, 8u << 20,
            "memory that verbs registers counts, and before kernel 5.12 io_uring's; raise it with "
            "ulimit -l"),
      limit("open files", RLIMIT_NOFILE, false, 4096,
            "a peer over shared memory takes about eight; raise it with ulimit -n")};
}

}  // namespace

std::string try_reading_another_process() {
  // The child reads the parent: a kernel may allow a process to read only its own descendants, and
  // peers are not descendants of each other.
  static const std::uint64_t word = 0x77656674;
  const pid_t self = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fmt::format("could not be tried: fork: {}", std::strerror(errno));
  if (child == 0) {
    std::uint64_t seen = 0;
    iovec local{&seen, sizeof seen};
    iovec remote{const_cast<std::uint64_t*>(&word), sizeof word};
    const ssize_t n = ::process_vm_readv(self, &local, 1, &remote, 1, 0);
    if (n < 0) ::_exit(errno & 0xff);
    ::_exit(n == sizeof seen && seen == word ? 0 : 255);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!WIFEXITED(status)) return "process_vm_readv: the process that tried it was killed";
  if (WEXITSTATUS(status) == 0) return {};
  if (WEXITSTATUS(status) == 255) return "process_vm_readv read something else";
  return fmt::format("process_vm_readv: {}", std::strerror(WEXITSTATUS(status)));
}

std::vector<finding> examine_kernel() {
  return {kernel(), wait_set(), files(),   membarrier(),          shared_memory(),
          cma(),    pidfd(),    inotify(), refused_descriptors(), scheduler_slices()};
}

std::vector<finding> examine_machine() {
  std::vector<finding> all = examine_kernel();
  all.insert(all.begin() + 1, cores());
  for (finding& one : limits()) all.push_back(std::move(one));
  return all;
}
}  // namespace weft::info
