// SPDX-License-Identifier: Apache-2.0
#include "transports/channel/memory_line.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "runtime/os/brief_wait.hpp"
#include "runtime/os/foreign_memory.hpp"

namespace weft::transports::channel {

namespace {

std::size_t bytes_of(const settings& s) {
  return sizeof(memory_head) + words_behind(s.ring) + sizeof(words);
}

std::uint64_t random_nonce() {
  std::uint64_t n = 0;
  if (::getrandom(&n, sizeof n, 0) != sizeof n)
    throw error(errc::system, fmt::format("getrandom failed: {}", std::strerror(errno)));
  return n;
}

/// The reader reads the inverse first.
void store(word& to, std::uint64_t value) noexcept {
  std::atomic_ref(to.value).store(value, std::memory_order_release);
  std::atomic_ref(to.inverse).store(~value, std::memory_order_release);
}

}  // namespace

memory_line::memory_line(const settings& s)
    : line(s),
      timeout_(s.timeout),
      file_(runtime::make_memory_file("weft-rdma-channel", bytes_of(s))),
      own_(runtime::map_own(file_, bytes_of(s))) {
  card_.nonce = random_nonce();
  card_.nonce_at = reinterpret_cast<std::uintptr_t>(&card_.nonce);
  card_.process = ::getpid();
  card_.descriptor = file_.get();
  card_.chosen = shape_;
  auto* const head = std::construct_at(static_cast<memory_head*>(own_.get()));
  head->magic = memory_card::expected_magic;
  head->nonce = card_.nonce;
  inbox_ = ring_in(own_);
  words_ = reinterpret_cast<words*>(inbox_ + words_behind(s.ring));
}

void memory_line::meet(std::span<const std::byte> peer) {
  check_unmet();
  memory_card c;
  if (peer.size() != sizeof c) lie("its card is not as long as one of shared memory");
  std::memcpy(&c, peer.data(), sizeof c);
  if (c.magic != memory_card::expected_magic)
    lie("its card is of something else, or of another version of weft");
  compare(c.chosen);
  const auto path = fmt::format("/proc/{}/fd/{}", c.process, c.descriptor);
  process_ = unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, c.process, 0)));
  // A card may name any file: nothing happens to it before it is known to be a sealed memfd.
  const unique_fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!process_ || !file)
    fail(errc::unreachable,
         fmt::format("cannot open {}: {}; over shm both ends are processes of one user, on one "
                     "host and in one pid namespace",
                     path, std::strerror(errno)));
  try {
    peers_ = runtime::map_from_peer(file, own_.size(), true);
  } catch (const error& e) {
    fail(e.kind(), e.what());
  }
  const memory_head& there = head_of(peers_);
  if (there.magic != c.magic || there.nonce != c.nonce) lie("its card names another file");
  if (static_cast<rung>(shape_.step) >= rung::read) {
    if (const auto why = runtime::try_foreign_memory(c.process, c.nonce_at, c.nonce); !why.empty())
      fail(errc::unsupported,
           fmt::format("memory of the other process cannot be reached: {}; rung `pipelined` needs "
                       "no such access",
                       why));
  }
  pid_ = c.process;
  outbox_ = ring_in(peers_);
  peers_words_ = reinterpret_cast<words*>(outbox_ + words_behind(shape_.ring));
}

void memory_line::tell(word words::*which, std::uint64_t value) {
  check();
  store(peers_words_->*which, value);
}

void memory_line::invite(std::uint64_t place, std::uint64_t size, std::uint64_t number) {
  check();
  peers_words_->invited.place = place;
  peers_words_->invited.size = size;
  store(peers_words_->invited.number, number);
}

bool memory_line::lend(std::span<std::byte> memory, memory_access, loan& into) {
  into.place = reinterpret_cast<std::uintptr_t>(memory.data());
  return true;
}

/// What was read is valid if the other end had not closed when all of it was here.
std::uint32_t memory_line::read(const loan&, std::span<std::byte> here, std::uint64_t there) {
  check();
  const int code = runtime::read_foreign(pid_, here.data(), there, here.size());
  std::atomic_thread_fence(std::memory_order_acquire);
  if (head_of(peers_).closed.load(std::memory_order_relaxed) != 0) lost("its other end was closed");
  return moved(code, "offers");
}

/// Either the other end sees that this one writes, and waits; or this one sees that it has closed.
std::uint32_t memory_line::write_to(const loan&, std::span<const std::byte> here,
                                    std::uint64_t there) {
  check();
  memory_head& other = head_of(peers_);
  other.moving.store(1, std::memory_order_seq_cst);
  const bool closed = other.closed.load(std::memory_order_seq_cst) != 0;
  const int code = closed ? 0 : runtime::write_foreign(pid_, there, here.data(), here.size());
  other.moving.store(0, std::memory_order_release);
  if (closed) lost("its other end was closed");
  return moved(code, "invites to");
}

/// \return the place of a work that has ended already
std::uint32_t memory_line::moved(int code, const char* what) {
  if (code == ESRCH) lost("its other process has ended");
  if (code == EFAULT) lost(fmt::format("it {} memory that it does not have", what).c_str());
  if (code != 0)
    fail(errc::system, fmt::format("the kernel does not copy: {}", std::strerror(code)));
  done_ = posted_ + 1;
  return posted_++;
}

bool memory_line::peer_has_died() const noexcept {
  pollfd ended{process_.get(), POLLIN, 0};
  return ::poll(&ended, 1, 0) == 1;
}

void memory_line::lost(const char* how) {
  fail(errc::peer_lost, fmt::format("the connection has broken: {}", how));
}

void memory_line::look() {
  check();
  if (head_of(peers_).closed.load(std::memory_order_acquire) != 0) lost("its other end was closed");
  if (++looks_ % looks_between_questions == 0 && peer_has_died())
    lost("its other process has ended");
}

void memory_line::shut() noexcept {
  memory_head& mine = head_of(own_);
  if (mine.closed.exchange(1, std::memory_order_seq_cst) != 0) return;
  note_closed();
  const auto limit = std::chrono::steady_clock::now() + timeout_;
  runtime::brief_wait between_looks;
  while (mine.moving.load(std::memory_order_seq_cst) != 0 && process_ && !peer_has_died() &&
         std::chrono::steady_clock::now() < limit)
    between_looks.wait();
}

}  // namespace weft::transports::channel
