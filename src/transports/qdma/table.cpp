// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/table.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <new>
#include <string_view>

#include <weft/error.hpp>

namespace weft::transports::qdma {

std::uint64_t start_of(pid_t pid) noexcept {
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/stat", static_cast<int>(pid));
  const unique_fd file(::open(path.data(), O_RDONLY | O_CLOEXEC));
  if (!file) return 0;
  std::array<char, 1024> text{};
  const ssize_t n = ::read(file.get(), text.data(), text.size());
  if (n <= 0) return 0;
  std::string_view rest(text.data(), static_cast<std::size_t>(n));
  // The second field is a name in parentheses, which may contain any character.
  const std::size_t name_end = rest.rfind(')');
  if (name_end == std::string_view::npos) return 0;
  rest.remove_prefix(name_end + 1);
  constexpr int fields_before_start = 20;  // 22nd of all
  for (int i = 0; i != fields_before_start; ++i) {
    const std::size_t space = rest.find(' ');
    if (space == std::string_view::npos) return 0;
    // A process that has ended and was not waited for is dead.
    if (i == 1 && (rest.front() == 'Z' || rest.front() == 'X')) return 0;
    rest.remove_prefix(space + 1);
  }
  std::uint64_t ticks = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), ticks);
  return ticks;
}

namespace {

std::uint64_t own_pid_space() noexcept {
  struct stat info {};
  return ::stat("/proc/self/ns/pid", &info) == 0 ? info.st_ino : 0;
}

}  // namespace

table::table(unique_fd file, runtime::mapping memory) noexcept
    : file_(std::move(file)),
      mapping_(std::move(memory)),
      memory_(static_cast<table_memory*>(mapping_.get())) {}

table table::make() {
  unique_fd file = runtime::make_memory_file("weft-qdma-table", sizeof(table_memory));
  runtime::mapping memory = runtime::map_own(file, sizeof(table_memory));
  auto* t = static_cast<table_memory*>(memory.get());  // zeroed: all entries are free
  t->magic = table_magic;
  t->entries_in_table = entry_count;
  return {std::move(file), std::move(memory)};
}

table table::from(unique_fd file) {
  runtime::mapping memory = runtime::map_from_peer(file, sizeof(table_memory), true);
  const auto* t = static_cast<const table_memory*>(memory.get());
  if (t->magic != table_magic || t->entries_in_table != entry_count)
    throw error(errc::protocol_error, "the peer sent a table of contexts that is not one");
  return {std::move(file), std::move(memory)};
}

vpid table::claim(socket_id name) {
  sweep();
  const std::uint64_t started = start_of(::getpid());
  for (std::uint32_t i = 0; i != entry_count; ++i) {
    table_entry& e = memory_->entry[i];
    std::uint64_t seen = e.word.load(std::memory_order_relaxed);
    const entry_word now = entry_word::unpack(seen);
    // The next generation; an entry that has had the last one is used up.
    if (now.claimed || now.generation >= last_generation) continue;
    const entry_word mine{now.generation + 1, static_cast<std::uint32_t>(::getpid()),
                          static_cast<std::uint32_t>(started) & entry_word::started_mask, true};
    if (!e.word.compare_exchange_strong(seen, mine.packed(), std::memory_order_acq_rel)) continue;
    e.started.store(started, std::memory_order_relaxed);
    e.pid_space.store(own_pid_space(), std::memory_order_relaxed);
    e.name[0].store(name[0], std::memory_order_relaxed);
    e.name[1].store(name[1], std::memory_order_relaxed);
    e.complete.store(mine.generation, std::memory_order_release);
    return vpid_of(mine.generation, i);
  }
  throw error(errc::system,
              "all 4096 entries of this node's table of contexts are in use; close some contexts, "
              "or make a second table");
}

void table::release(vpid v) noexcept {
  table_entry& e = memory_->entry[index_of(v)];
  std::uint64_t seen = e.word.load(std::memory_order_relaxed);
  const entry_word now = entry_word::unpack(seen);
  if (!now.claimed || now.generation != generation_of(v)) return;
  e.word.compare_exchange_strong(seen, entry_word{now.generation, 0, 0, false}.packed(),
                                 std::memory_order_acq_rel);
}

bool table::owner_lives(const table_entry& e, entry_word w) const noexcept {
  const bool complete = e.complete.load(std::memory_order_acquire) == w.generation;
  // A process number of another namespace means nothing in this one. Before the entry is complete
  // its owner is taken to be of this namespace: it has a few instructions left until then.
  if (complete && e.pid_space.load(std::memory_order_relaxed) != own_pid_space()) return true;
  const auto pid = static_cast<pid_t>(w.pid);
  if (pid <= 0) return false;
  const std::uint64_t started = start_of(pid);
  if (started == 0) {
    // The process has no entry in /proc, or /proc shows none.
    const bool proc_works = start_of(::getpid()) != 0;
    return !proc_works && (::kill(pid, 0) == 0 || errno == EPERM);
  }
  if (w.started == 0) return true;  // the owner could not read its own start time
  if ((started & entry_word::started_mask) != w.started) return false;
  return !complete || e.started.load(std::memory_order_relaxed) == started;
}

bool table::lives(vpid v) const noexcept {
  const table_entry& e = memory_->entry[index_of(v)];
  const entry_word w = entry_word::unpack(e.word.load(std::memory_order_acquire));
  return v != 0 && w.claimed && w.generation == generation_of(v) && owner_lives(e, w);
}

socket_id table::name_of(vpid v) const noexcept {
  const table_entry& e = memory_->entry[index_of(v)];
  const entry_word w = entry_word::unpack(e.word.load(std::memory_order_acquire));
  if (v == 0 || !w.claimed || w.generation != generation_of(v)) return {};
  if (e.complete.load(std::memory_order_acquire) != w.generation) return {};
  return {e.name[0].load(std::memory_order_relaxed), e.name[1].load(std::memory_order_relaxed)};
}

unsigned table::sweep() noexcept {
  unsigned freed = 0;
  for (table_entry& e : memory_->entry) {
    std::uint64_t seen = e.word.load(std::memory_order_acquire);
    const entry_word w = entry_word::unpack(seen);
    if (!w.claimed || owner_lives(e, w)) continue;
    freed += e.word.compare_exchange_strong(seen, entry_word{w.generation, 0, 0, false}.packed(),
                                            std::memory_order_acq_rel)
                 ? 1
                 : 0;
  }
  return freed;
}

unsigned table::claimed() const noexcept {
  unsigned n = 0;
  for (const table_entry& e : memory_->entry)
    n += entry_word::unpack(e.word.load(std::memory_order_relaxed)).claimed ? 1 : 0;
  return n;
}

bool table::is_same(int fd) const noexcept {
  struct stat own {
  }, other{};
  // Only a memory file answers the first call, and only on a memory file the other calls never
  // wait.
  return ::fcntl(fd, F_GET_SEALS) >= 0 && ::fstat(file_.get(), &own) == 0 &&
         ::fstat(fd, &other) == 0 && own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

}  // namespace weft::transports::qdma
