// SPDX-License-Identifier: Apache-2.0
#include <weft/io/file.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <string_view>
#include <utility>

#include <weft/coro/as_result.hpp>
#include <weft/group.hpp>

#include "api/core/core.hpp"
#include "api/io/file_state.hpp"

namespace weft {

using detail::file_job;
using detail::file_state;

namespace {

constexpr const char* no_file = "this object names no open file; file::open makes one";

const file_state& opened(const std::unique_ptr<file_state>& s) {
  if (!s) throw error(errc::invalid_argument, no_file);
  return *s;
}

/// "read 4096 bytes at 0 of data"
std::string describe(const file_job& j, const file_state& of) {
  switch (j.what) {
    case file_job::call::open:
      return fmt::format("cannot open {}", of.path);
    case file_job::call::read:
      return fmt::format("cannot read {} bytes at {} of {}", j.size, j.offset, of.path);
    case file_job::call::write:
      return fmt::format("cannot write {} bytes at {} of {}", j.size, j.offset, of.path);
    case file_job::call::size:
      return fmt::format("cannot ask for the size of {}", of.path);
    case file_job::call::truncate:
      return fmt::format("cannot change the size of {} to {}", of.path, j.offset);
    case file_job::call::sync:
      return fmt::format("cannot bring {} to its disk", of.path);
    case file_job::call::close:
      break;
  }
  return fmt::format("closing {}", of.path);
}

}  // namespace

namespace detail {

bool any_file_operation::start() noexcept {
  constexpr std::uint64_t last_offset = std::numeric_limits<std::int64_t>::max();
  constexpr std::size_t most_bytes = 0x7fff'f000;  // of one system call
  if (!of_ || wanted_ > last_offset) {
    status = errc::invalid_argument;
    return true;
  }
  fd = of_->fd;
  path = of_->path.c_str();
  flags = of_->flags;
  mode = of_->mode;
  size = std::min(size, most_bytes);
  offset = static_cast<std::int64_t>(wanted_);
  if (!of_->has_offsets && (what == call::read || what == call::write)) {
    has_returned(-ESPIPE);
    return true;
  }
  return of_->calls.start(*this);
}

void any_file_operation::cancel() noexcept {
  if (of_) of_->calls.cancel(*this);
}

std::string any_file_operation::explain() const {
  if (!of_) return no_file;
  switch (status) {
    case errc::invalid_argument:
      return fmt::format("offset {} of {} is out of range; the last one is 2^63 - 1", wanted_,
                         of_->path);
    case errc::system:
      return explain_failure(describe(*this, *of_), static_cast<int>(-result));
    default:
      return fmt::format("{}: {}", describe(*this, *of_), sentence_of(status));
  }
}

}  // namespace detail

file::file() noexcept = default;
file::file(std::unique_ptr<file_state> s) noexcept : state_(std::move(s)) {}
file::file(file&& other) noexcept = default;

file& file::operator=(file&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

file::~file() {
  if (state_) ::close(state_->fd);
}

int file::descriptor() const { return opened(state_).fd; }
const std::string& file::path() const { return opened(state_).path; }

task<file> file::open(context& ctx, std::filesystem::path path, int flags, unsigned mode) {
  detail::core_of(ctx).refuse_child();
  // O_NONBLOCK: the open of a FIFO does not wait for the other end.
  auto state = std::make_unique<file_state>(file_state{
      detail::core_of(ctx).engine().files(), path.string(), flags | O_CLOEXEC | O_NONBLOCK, mode});
  const file_request<int> request{state.get(), file_job::call::open};
  state->fd = co_await request;
  state->has_offsets = ::lseek(state->fd, 0, SEEK_CUR) >= 0 || errno != ESPIPE;
  file made(std::move(state));
  // Operations on the descriptor wait all the same.
  if ((flags & O_NONBLOCK) == 0) {
    const int now = ::fcntl(made.descriptor(), F_GETFL);
    ::fcntl(made.descriptor(), F_SETFL, now & ~O_NONBLOCK);
  }
  co_return made;
}

namespace {

/// What the others learn of rank 0's open. A plain value that is broadcast.
struct first_open {
  errc kind = errc::ok;
  std::array<char, 508> text = {};
};

first_open outcome_of(const result<file>& opened) {
  first_open o{opened.code()};
  if (!opened) std::string_view(opened.failure().what()).copy(o.text.data(), o.text.size() - 1);
  return o;
}

}  // namespace

task<file> file::open(group members, std::filesystem::path path, int flags, unsigned mode) {
  context& ctx = members.owner();
  constexpr int of_the_first = O_CREAT | O_EXCL | O_TRUNC;
  result<file> opened(file{});
  if (members.rank() == 0) opened = co_await as_result(open(ctx, path, flags, mode));
  first_open first = outcome_of(opened);
  co_await members.broadcast(first);
  if (members.rank() == 0) co_return std::move(opened).value();
  if (first.kind != errc::ok)
    throw error(first.kind, fmt::format("rank 0 of the group: {}", first.text.data()));
  co_return co_await open(ctx, std::move(path), flags & ~of_the_first, mode);
}

task<void> file::close() {
  const std::unique_ptr<file_state> closing = std::move(state_);
  opened(closing);
  const file_request<void> request{closing.get(), file_job::call::close};
  co_await request;
}

task<void> file::read_exactly(std::uint64_t offset, mutable_buffer into) {
  std::size_t done = 0;
  while (done != into.size()) {
    const std::size_t n = co_await read_at(offset + done, into.subspan(done));
    if (n == 0)
      throw error(errc::truncated, fmt::format("{} has only {} of {} bytes at {}", path(), done,
                                               into.size(), offset));
    done += n;
  }
}

task<void> file::write_exactly(std::uint64_t offset, const_buffer data) {
  std::size_t done = 0;
  while (done != data.size()) {
    const std::size_t n = co_await write_at(offset + done, data.subspan(done));
    done += n;
  }
}

task<void> detail::read_whole_file(context& ctx, std::filesystem::path path, void* container,
                                   bool (*resize)(void*, std::size_t, mutable_buffer&),
                                   std::size_t element) {
  constexpr std::uint64_t least = 4096;
  file from = co_await file::open(ctx, std::move(path), O_RDONLY);
  const std::uint64_t expected = co_await from.size();
  mutable_buffer all;
  const auto make_room = [&](std::uint64_t bytes) {
    if (!resize(container, bytes / element, all))
      throw error(errc::out_of_memory,
                  fmt::format("no memory for the contents of {}", from.path()));
  };
  // More than is expected: then the read that fills it finds the end, too.
  make_room(std::max(expected, least) + element);
  std::size_t done = 0;
  for (;;) {
    const std::size_t n = co_await from.read_at(done, all.subspan(done));
    if (n == 0) break;
    done += n;
    if (done == all.size()) make_room(2 * done);
  }
  if (done % element != 0)
    throw error(errc::truncated, fmt::format("{} has {} bytes, no whole number of elements of {}",
                                             from.path(), done, element));
  make_room(done);
  co_await from.close();
}

task<void> write_file(context& ctx, std::filesystem::path path, const_buffer data) {
  file to = co_await file::open(ctx, std::move(path), O_WRONLY | O_CREAT | O_TRUNC);
  co_await to.write_exactly(0, data);
  co_await to.close();
}

}  // namespace weft
