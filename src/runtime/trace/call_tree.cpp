// SPDX-License-Identifier: Apache-2.0
#include "runtime/trace/call_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <new>
#include <span>

#include <weft/error.hpp>

#include "runtime/os/held_back_signal.hpp"

namespace weft::runtime {

namespace {

using steady = std::chrono::steady_clock;

constexpr std::size_t longest_line = 256;
constexpr std::size_t deepest = 64;  // of the steps that are written

double us_of(steady::duration d) noexcept {
  return std::chrono::duration<double, std::micro>(d).count();
}

struct open_step {
  const call_tree* tree;  // null: the tree was complete when the step began
  const char* what;
  call_tree::subject of;
  steady::time_point began;
  bool written;
};

/// The steps that a thread is in, of all contexts. Steps deeper than that are not written.
struct steps_of_thread {
  std::array<open_step, deepest> all;
  std::size_t depth = 0;
  open_step* last() noexcept { return depth <= all.size() ? &all[depth - 1] : nullptr; }
  std::span<open_step> open() noexcept { return std::span(all).first(std::min(depth, all.size())); }
};

/// Made for the first step of a thread, and only a pointer is the thread's own: an MPI loads weft
/// late, where little memory for variables of threads is left.
/// \return null: no memory; its steps are not written
steps_of_thread* here() noexcept {
  static thread_local std::unique_ptr<steps_of_thread> steps;
  if (!steps) steps.reset(new (std::nothrow) steps_of_thread);
  return steps.get();
}

std::size_t depth_here() noexcept {
  const steps_of_thread* const steps = here();
  return steps ? steps->depth : 0;
}

/// "frame to 1: eager, tag 7, 8 bytes"
void append(fmt::memory_buffer& to, const char* what, const call_tree::subject& of) {
  const auto out = std::back_inserter(to);
  fmt::format_to(out, "{}", what);
  if (of.peer != call_tree::subject::no_peer) fmt::format_to(out, " {}", of.peer);
  if (of.kind) fmt::format_to(out, ": {}", of.kind);
  if (of.tag != call_tree::subject::nothing)
    fmt::format_to(out, fmt::runtime(of.tag >> 32 == 0 ? ", tag {}" : ", tag {:#x}"), of.tag);
  if (of.bytes != call_tree::subject::nothing) fmt::format_to(out, ", {} bytes", of.bytes);
}

}  // namespace

call_tree::call_tree(const std::string& file, std::uint32_t rank, std::uint64_t messages)
    : out_(file == "stderr"
               ? ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)
               : ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666)),
      rank_(rank),
      messages_(messages) {
  if (!out_)
    throw error(errc::system,
                fmt::format("the call tree \"{}\" cannot be written: {}. Set WEFT_CALL_TREE to "
                            "\"stderr\", or to a file in a directory that exists and is yours",
                            file, std::strerror(errno)));
}

void call_tree::enter(const char* what, const subject& of, bool only_with_more) noexcept {
  steps_of_thread* const steps = here();
  if (!steps) return;
  ++steps->depth;
  open_step* const mine = steps->last();
  if (!mine) return;
  *mine = {is_over() ? nullptr : this, what, of, steady::now(), false};
  if (!only_with_more) write_open_steps();
}

void call_tree::leave() noexcept {
  steps_of_thread* const steps = here();
  if (!steps || steps->depth == 0) return;  // there was no memory when the step began
  const open_step* const mine = steps->last();
  if (mine && mine->tree && mine->written) {
    fmt::memory_buffer text;
    const steady::time_point now = steady::now();
    append(text, mine->what, {.peer = mine->of.peer, .kind = mine->of.kind});
    fmt::format_to(std::back_inserter(text), "  {:.3f} µs", us_of(now - mine->began));
    text.push_back('\0');
    write(now, steps->depth - 1, '<', text.data());
  }
  --steps->depth;
}

void call_tree::note(const char* what, const subject& of) noexcept {
  if (is_over()) return;
  write_open_steps();
  fmt::memory_buffer text;
  append(text, what, of);
  text.push_back('\0');
  write(steady::now(), depth_here(), '-', text.data());
}

void call_tree::note_sleep(std::chrono::nanoseconds took, std::uint64_t events) noexcept {
  if (is_over()) return;
  write_open_steps();
  write(steady::now(), depth_here(), '-',
        fmt::format("slept {:.3f} µs, woken by {} events", us_of(took), events).c_str());
}

void call_tree::end_message(const char* what, const subject& of) noexcept {
  note(what, of);
  ended_.fetch_add(1, std::memory_order_relaxed);
}

/// The steps around that wait for something to happen within them.
void call_tree::write_open_steps() noexcept {
  steps_of_thread* const steps = here();
  if (!steps) return;
  std::size_t depth = 0;
  for (open_step& s : steps->open()) {
    const std::size_t level = depth++;
    if (s.written || s.tree != this) continue;
    s.written = true;
    fmt::memory_buffer text;
    append(text, s.what, s.of);
    text.push_back('\0');
    write(s.began, level, '>', text.data());
  }
}

/// One system call for a line, so that lines of several threads and ranks do not mix.
void call_tree::write(steady::time_point at, std::size_t depth, char mark,
                      const char* text) noexcept {
  // As gdb and top name the thread: the name may be shared, the number is not.
  char name[16] = "";
  pthread_getname_np(pthread_self(), name, sizeof name);
  char line[longest_line];
  const auto end = fmt::format_to_n(
      line, sizeof line - 1, "{:>16.3f} {:>4} {:<22} {:{}}{} {}", us_of(at.time_since_epoch()),
      rank_, fmt::format("{}/{}", name, ::gettid()), "", 2 * std::min(depth, deepest), mark, text);
  *end.out = '\n';
  const int saved = errno;
  const auto size = static_cast<std::size_t>(end.out - line) + 1;
  held_back_signal too_large(SIGXFSZ);  // the tree ends at the limit on file size, the program not
  ssize_t written = 0;
  do {
    written = ::write(out_.get(), line, size);
  } while (written < 0 && errno == EINTR);
  if (written < 0) too_large.drop();
  errno = saved;
}

}  // namespace weft::runtime
