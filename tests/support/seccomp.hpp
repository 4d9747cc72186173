// SPDX-License-Identifier: Apache-2.0
// System calls that fail from now on, as under a container's seccomp profile.
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace weft::tests {

/// One system call and the errno that it ends with.
struct refusal {
  std::uint32_t call;
  std::uint32_t code;
  /// If not zero: only when the first argument has one of these bits.
  std::uint32_t only_with = 0;
  /// If not zero: only when the third argument is this.
  std::uint32_t third_is = 0;
};

/// Refuses the calls to this process and all its children, permanently: a filter cannot be removed.
/// \return whether the kernel took the filter
inline bool refuse(std::span<const refusal> all) {
  std::vector<sock_filter> program{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const refusal& r : all) {
    if (r.third_is != 0) {
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r.call, 0, 4));
      program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[2])));
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r.third_is, 1, 0));
      program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    } else if (r.only_with == 0) {
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r.call, 0, 1));
    } else {
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, r.call, 0, 4));
      program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args)));
      program.push_back(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, r.only_with, 1, 0));
      program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    }
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | r.code));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

/// Whether `refuse` works here: under an emulator of another processor it does not.
inline bool can_refuse() {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(refuse({}) ? 0 : 1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace weft::tests
