// SPDX-License-Identifier: Apache-2.0
#include "runtime/files/file_calls.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include <weft/error.hpp>

namespace weft::runtime {

using detail::file_job;

namespace {

std::int64_t make_call(const file_job& j) noexcept {
  switch (j.what) {
    case file_job::call::open:
      return ::open(j.path, j.flags, j.mode);
    case file_job::call::read:
      if (j.offset == file_job::at_position) return ::read(j.fd, j.memory, j.size);
      return ::pread(j.fd, j.memory, j.size, j.offset);
    case file_job::call::write:
      if (j.offset == file_job::at_position) return ::write(j.fd, j.memory, j.size);
      return ::pwrite(j.fd, j.memory, j.size, j.offset);
    case file_job::call::size: {
      struct stat facts {};
      return ::fstat(j.fd, &facts) == 0 ? static_cast<std::int64_t>(facts.st_size) : -1;
    }
    case file_job::call::truncate:
      return ::ftruncate(j.fd, j.offset);
    case file_job::call::sync:
      return ::fsync(j.fd);
    case file_job::call::close:
      return ::close(j.fd);
  }
  errno = EINVAL;
  return -1;
}

}  // namespace

void call_now(file_job& j) noexcept {
  std::int64_t value = 0;
  do {
    value = make_call(j);
    if (value < 0) value = -errno;
    // After EINTR the descriptor is closed nevertheless.
  } while (value == -EINTR && j.what != file_job::call::close);
  j.has_returned(value);
}

file_calls_choice make_file_calls(std::string_view wanted, executor& home,
                                  detail::fd_wait_service& waits) {
  if (wanted == "epoll") return {make_file_threads(home), "epoll was asked for"};
  try {
    return {make_file_ring(home, waits), {}};
  } catch (const error& e) {
    return {make_file_threads(home), e.what()};
  }
}

/// \throws std::bad_alloc
file_calls* lazy_file_calls::calls() {
  const std::lock_guard lock(mutex_);
  if (!choice_.calls && !closed_) choice_ = make_file_calls(wanted_, home_, waits_);
  return choice_.calls.get();
}

bool lazy_file_calls::start(file_job& j) noexcept {
  try {
    if (file_calls* const made = calls()) return made->start(j);
    j.status = errc::closed;
  } catch (const std::bad_alloc&) {
    j.status = errc::out_of_memory;
  }
  if (j.what == file_job::call::close) call_now(j);
  return true;
}

/// A job that is not started yet finds the flag: the first one makes the calls under the mutex
/// before it looks.
void lazy_file_calls::cancel(file_job& j) noexcept {
  file_calls* made = nullptr;
  {
    const std::lock_guard lock(mutex_);
    made = choice_.calls.get();
    if (!made && j.what != file_job::call::close) j.cancelled = true;
  }
  if (made) made->cancel(j);
}

void lazy_file_calls::close() noexcept {
  file_calls* made = nullptr;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    made = choice_.calls.get();
  }
  if (made) made->close();
}

std::string lazy_file_calls::describe() const {
  const std::lock_guard lock(mutex_);
  if (!choice_.calls) return {};
  std::string text = std::string("; files by ") + choice_.calls->name();
  if (!choice_.reason.empty()) text += " (" + choice_.reason + ")";
  return text;
}

}  // namespace weft::runtime
