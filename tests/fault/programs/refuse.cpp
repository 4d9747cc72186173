// SPDX-License-Identifier: Apache-2.0
// Starts a program in a world that refuses it something:
//   refuse [WHAT]... -- program [arguments]...
//
//   io_uring=EPERM    that system call, or group of calls, fails so (EPERM or ENOSYS)
//   passrights=ENOSYS no socket can refuse descriptors, as before Linux 6.16
//   container         all that a default container refuses, and its usual limits
//   nofile=N memlock=N as=N    limits; the last two in KiB
//   shm=SIZE          a /dev/shm of that size (64m); shm=none: no /dev/shm at all
//
// Exit status 77 if this machine does not permit that, with the reason.
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "support/seccomp.hpp"
#include "support/skip.hpp"

namespace {

using weft::tests::refusal;

const std::map<std::string, std::vector<std::uint32_t>> calls{
    {"io_uring", {SYS_io_uring_setup, SYS_io_uring_enter, SYS_io_uring_register}},
    {"process_vm_readv", {SYS_process_vm_readv, SYS_process_vm_writev}},
    {"process_vm_writev", {SYS_process_vm_writev}},
    {"memfd_create", {SYS_memfd_create}},
    {"pidfd_open", {SYS_pidfd_open}},
    {"eventfd2", {SYS_eventfd2}},
    {"sched_setattr", {SYS_sched_setattr}},
    {"membarrier", {SYS_membarrier}},
    {"setpriority", {SYS_setpriority}},
};

/// The system calls that Docker's default profile answers with EPERM, as far as a current program
/// might use them; io_uring since 2023, process_vm_readv on hosts that require SYS_PTRACE for it.
constexpr std::uint32_t forbidden[] = {
    SYS_io_uring_setup,
    SYS_io_uring_enter,
    SYS_io_uring_register,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_ptrace,
    SYS_process_madvise,
    SYS_pidfd_getfd,
    SYS_kcmp,
    SYS_perf_event_open,
    SYS_bpf,
    SYS_userfaultfd,
    SYS_unshare,
    SYS_setns,
    SYS_mount,
    SYS_umount2,
    SYS_pivot_root,
    SYS_move_mount,
    SYS_open_tree,
    SYS_fsopen,
    SYS_fsmount,
    SYS_fsconfig,
    SYS_fspick,
    SYS_mount_setattr,
    SYS_mbind,
    SYS_get_mempolicy,
    SYS_set_mempolicy,
    SYS_migrate_pages,
    SYS_move_pages,
    SYS_add_key,
    SYS_request_key,
    SYS_keyctl,
    SYS_settimeofday,
    SYS_clock_settime,
    SYS_quotactl,
    SYS_acct,
    SYS_syslog,
    SYS_reboot,
    SYS_swapon,
    SYS_swapoff,
    SYS_init_module,
    SYS_finit_module,
    SYS_delete_module,
    SYS_kexec_load,
    SYS_sethostname,
    SYS_setdomainname,
    SYS_vhangup,
    SYS_name_to_handle_at,
    SYS_open_by_handle_at,
    SYS_fanotify_init,
};

constexpr std::uint32_t new_namespaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
                                         CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWCGROUP;

/// The capabilities that Docker leaves to root.
constexpr int kept[] = {CAP_CHOWN,       CAP_DAC_OVERRIDE,    CAP_FSETID,     CAP_FOWNER,
                        CAP_MKNOD,       CAP_NET_RAW,         CAP_SETGID,     CAP_SETUID,
                        CAP_SETFCAP,     CAP_SETPCAP,         CAP_SYS_CHROOT, CAP_KILL,
                        CAP_AUDIT_WRITE, CAP_NET_BIND_SERVICE};

[[noreturn]] void cannot(const std::string& what) {
  std::cout << "skipped: " << what << ": " << std::strerror(errno) << std::endl;
  ::_exit(weft::tests::skip_exit_code);
}
[[noreturn]] void misused(const std::string& what) {
  std::cerr << "refuse: '" << what << "' is not understood\n";
  ::_exit(2);
}

void limit(int which, rlim_t to) {
  rlimit now{};
  const auto resource = static_cast<__rlimit_resource>(which);
  ::getrlimit(resource, &now);
  to = std::min(to, now.rlim_max);
  now = {to, to};
  if (::setrlimit(resource, &now) != 0) cannot("setrlimit");
}

void drop_capabilities() {
  for (int c = 0; c <= CAP_LAST_CAP; ++c)
    if (std::ranges::find(kept, c) == std::end(kept)) ::prctl(PR_CAPBSET_DROP, c, 0, 0, 0);
  __user_cap_header_struct head{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct sets[2]{};
  if (::syscall(SYS_capget, &head, sets) != 0) cannot("capget");
  std::uint64_t mask = 0;
  for (const int c : kept) mask |= std::uint64_t{1} << c;
  for (int half = 0; half < 2; ++half) {
    const auto bits = static_cast<std::uint32_t>(mask >> (32 * half));
    sets[half].permitted &= bits;
    sets[half].effective &= bits;
    sets[half].inheritable = 0;
  }
  if (::syscall(SYS_capset, &head, sets) != 0) cannot("capset");
}

void own_mounts() {
  if (::unshare(CLONE_NEWNS) != 0) cannot("a mount namespace");
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) cannot("private mounts");
}

void shared_memory(const std::string& size) {
  own_mounts();
  if (size != "none") {
    if (::mount("tmpfs", "/dev/shm", "tmpfs", 0, ("size=" + size).c_str()) != 0)
      cannot("a /dev/shm of " + size);
    return;
  }
  // A /dev with only the files that every program opens.
  const int dev = ::open("/dev", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (::mount("tmpfs", "/dev", "tmpfs", 0, "size=64k") != 0) cannot("another /dev");
  for (const std::string name : {"null", "zero", "full", "random", "urandom"}) {
    const std::string to = "/dev/" + name;
    ::close(::open(to.c_str(), O_CREAT | O_CLOEXEC, 0600));
    const std::string from = "/proc/self/fd/" + std::to_string(dev) + "/" + name;
    if (::mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr) != 0) cannot(to);
  }
}

std::uint32_t number_of(const std::string& name) {
  if (name == "EPERM") return EPERM;
  if (name == "ENOSYS") return ENOSYS;
  misused(name);
}

void take(const std::string& what, std::vector<refusal>& refused) {
  if (what == "container") {
    // AddressSanitizer's leak check at the end needs ptrace, which is refused from here on.
    const char* sanitizer = std::getenv("ASAN_OPTIONS");
    ::setenv("ASAN_OPTIONS", (std::string(sanitizer ? sanitizer : "") + ":detect_leaks=0").c_str(),
             1);
    limit(RLIMIT_NOFILE, 1024);
    limit(RLIMIT_MEMLOCK, 64 << 10);
    drop_capabilities();
    for (const std::uint32_t call : forbidden) refused.push_back({call, EPERM});
    refused.push_back({SYS_clone3, ENOSYS});
    refused.push_back({SYS_clone, EPERM, new_namespaces});
    return;
  }
  const std::size_t equals = what.find('=');
  if (equals == what.npos) misused(what);
  const std::string name = what.substr(0, equals), value = what.substr(equals + 1);
  if (name == "nofile") return limit(RLIMIT_NOFILE, std::stoul(value));
  if (name == "memlock") return limit(RLIMIT_MEMLOCK, std::stoul(value) << 10);
  if (name == "as") return limit(RLIMIT_AS, std::stoul(value) << 10);
  if (name == "shm") return shared_memory(value);
  if (name == "passrights") {
    constexpr std::uint32_t so_passrights = 83;
    return refused.push_back({SYS_setsockopt, number_of(value), 0, so_passrights});
  }
  const auto found = calls.find(name);
  if (found == calls.end()) misused(what);
  for (const std::uint32_t call : found->second) refused.push_back({call, number_of(value)});
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<refusal> refused;
  int i = 1;
  for (; i < argc && argv[i] != std::string("--"); ++i) take(argv[i], refused);
  if (++i >= argc) misused("no program");
  if (!refused.empty() && !weft::tests::refuse(refused)) cannot("a seccomp filter");
  ::execvp(argv[i], argv + i);
  std::cerr << "refuse: " << argv[i] << ": " << std::strerror(errno) << '\n';
  return 127;
}
