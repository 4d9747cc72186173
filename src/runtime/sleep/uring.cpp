// SPDX-License-Identifier: Apache-2.0
#if WEFT_HAVE_URING

#include "runtime/sleep/uring.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <weft/error.hpp>

#include "runtime/sleep/deadline.hpp"

namespace weft::runtime {
namespace {

std::string explain(int code) {
  const std::string what = std::string("io_uring_setup: ") + std::strerror(code) + "; ";
  switch (code) {
    case EPERM:
    case EACCES:
      return what +
             "a container's seccomp profile or the sysctl kernel.io_uring_disabled forbids it";
    case ENOSYS:
      return what + "this kernel was built without it, or a sandbox hides it";
    case ENOMEM:
      return what + "memory or the limit on locked memory is short (ulimit -l)";
    case EMFILE:
    case ENFILE:
      return what + "raise the limit on open files (ulimit -n)";
    case EINVAL:
      return what + "it needs kernel 5.18 or later";
    default:
      return what + "epoll takes its place";
  }
}

}  // namespace

uring::uring(unsigned submissions, unsigned completions) {
  io_uring_params params{};
  // SUBMIT_ALL: one bad request must not hold up those behind it.
  // Neither SINGLE_ISSUER nor DEFER_TASKRUN nor COOP_TASKRUN: docs/adr/0003-wait-set.md.
  params.flags = IORING_SETUP_CLAMP | IORING_SETUP_CQSIZE | IORING_SETUP_SUBMIT_ALL;
  params.cq_entries = completions;
  const int code = io_uring_queue_init_params(submissions, &ring_, &params);
  if (code != 0) throw error(errc::unsupported, explain(-code));
  constexpr unsigned needed = IORING_FEAT_EXT_ARG | IORING_FEAT_NODROP | IORING_FEAT_CQE_SKIP;
  if ((params.features & needed) != needed) {
    io_uring_queue_exit(&ring_);
    throw error(errc::unsupported, explain(EINVAL));
  }
}

void uring::end() noexcept {
  if (!std::exchange(ended_, true)) io_uring_queue_exit(&ring_);
}

int uring::enter(std::chrono::nanoseconds at_most) noexcept {
  if (at_most == std::chrono::nanoseconds::zero())
    return std::max(-io_uring_submit_and_get_events(&ring_), 0);
  __kernel_timespec limit{};
  if (at_most != forever) {
    const auto whole = std::chrono::floor<std::chrono::seconds>(at_most);
    limit.tv_sec = whole.count();
    limit.tv_nsec = (at_most - whole).count();
  }
  io_uring_cqe* first = nullptr;
  const int got = io_uring_submit_and_wait_timeout(&ring_, &first, 1,
                                                   at_most == forever ? nullptr : &limit, nullptr);
  return std::max(-got, 0);
}

}  // namespace weft::runtime

#endif  // WEFT_HAVE_URING
