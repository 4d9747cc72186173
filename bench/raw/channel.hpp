// SPDX-License-Identifier: Apache-2.0
// One-way channels for large messages in the memory of a pair. Sender and receiver are two small
// objects over the same shared state, each used by one process; both know the size of every message
// beforehand. No channel verifies anything: the loops around it do.
#pragma once

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>
#include <system_error>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "raw/raw.hpp"
#include "support/spin.hpp"

namespace weft::bench::raw {

/// A ring of chunks. Each has its own flag line, so that the two copies run at the same time.
class pipelined_channel {
 public:
  static std::size_t bytes(ring_shape ring) { return ring.depth * (sizeof(flag) + ring.chunk); }

  pipelined_channel(std::byte* shared, ring_shape ring)
      : flags_(reinterpret_cast<flag*>(shared)),
        chunks_(shared + ring.depth * sizeof(flag)),
        ring_(ring) {}

  /// Returns when `message` is in the ring, so its buffer is free.
  void send(std::span<const std::byte> message) {
    pass(message.size(), false, [&](std::byte* chunk, std::size_t at, std::size_t n) {
      std::memcpy(chunk, message.data() + at, n);
    });
  }

  void receive(std::span<std::byte> message) {
    pass(message.size(), true, [&](const std::byte* chunk, std::size_t at, std::size_t n) {
      std::memcpy(message.data() + at, chunk, n);
    });
  }

 protected:
  struct alignas(64) flag {
    std::atomic<std::uint32_t> full{0};  // 0: the sender's to fill, 1: the receiver's to empty
  };

  template <typename Copy>
  void pass(std::size_t size, std::uint32_t mine, Copy&& copy) {
    for (std::size_t at = 0; at < size; at += ring_.chunk) {
      auto& full = flags_[next_].full;
      spin_until([&] { return full.load(std::memory_order_acquire) == mine; });
      copy(chunks_ + next_ * ring_.chunk, at, std::min(ring_.chunk, size - at));
      full.store(1 - mine, std::memory_order_release);
      if (++next_ == ring_.depth) next_ = 0;
    }
  }

 private:
  flag* flags_;
  std::byte* chunks_;
  ring_shape ring_;
  std::size_t next_ = 0;
};

/// Copies by stores that pass the caches, where the processor has them and `to` is aligned for
/// them.
inline void stream(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  std::size_t at = 0;
#ifdef __SSE2__
  const bool aligned = reinterpret_cast<std::uintptr_t>(to) % alignof(__m128i) == 0;
  for (; aligned && n - at >= sizeof(__m128i); at += sizeof(__m128i))
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + at),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + at)));
  _mm_sfence();  // a release store does not wait for them
#endif
  std::memcpy(to + at, from + at, n - at);
}

/// The same ring, filled by such stores.
class streamed_channel : public pipelined_channel {
 public:
  using pipelined_channel::pipelined_channel;

  void send(std::span<const std::byte> message) {
    pass(message.size(), false, [&](std::byte* chunk, std::size_t at, std::size_t n) {
      stream(chunk, message.data() + at, n);
    });
  }
};

/// A ring of notes "message n is at this address", and a counter of the messages that the receiver
/// has taken. The sender's buffer is free when the receiver has answered; send() itself only posts.
class note_channel {
 public:
  static std::size_t bytes(ring_shape) { return sizeof(state); }

  explicit note_channel(std::byte* shared) : state_(reinterpret_cast<state*>(shared)) {}

  void send(std::span<const std::byte> message) {
    if (next_ >= depth)
      spin_until([&] { return next_ - state_->taken.load(std::memory_order_acquire) < depth; });
    auto& note = state_->notes[next_ % depth];
    note.address = message.data();
    note.owner = owner_;
    note.number.store(++next_, std::memory_order_release);
  }

 protected:
  static constexpr std::uint64_t depth = 64;

  struct note_line {
    alignas(64) std::atomic<std::uint64_t> number{0};  // 1 + the number of the message
    const std::byte* address = nullptr;
    pid_t owner = 0;
  };

  const note_line& await_note() {
    const auto& note = state_->notes[next_ % depth];
    spin_until([&] { return note.number.load(std::memory_order_acquire) == next_ + 1; });
    return note;
  }
  void taken() { state_->taken.store(++next_, std::memory_order_release); }

 private:
  struct state {
    note_line notes[depth];
    alignas(64) std::atomic<std::uint64_t> taken{0};
  };
  state* state_;
  pid_t owner_ = ::getpid();
  std::uint64_t next_ = 0;
};

/// The kernel copies, out of the sender's ordinary memory.
class cma_channel : public note_channel {
 public:
  cma_channel(std::byte* shared, ring_shape) : note_channel(shared) {}

  void receive(std::span<std::byte> message) {
    const auto& note = await_note();
    std::size_t at = 0;
    while (at < message.size()) {
      const iovec local{message.data() + at, message.size() - at};
      const iovec remote{const_cast<std::byte*>(note.address) + at, message.size() - at};
      const auto n = ::process_vm_readv(note.owner, &local, 1, &remote, 1, 0);
      if (n <= 0)
        throw std::system_error(
            n < 0 ? errno : EIO, std::system_category(),
            "process_vm_readv refused to read the other process (allow it in the container: "
            "--cap-add=SYS_PTRACE, or a seccomp profile with process_vm_readv; or "
            "kernel.yama.ptrace_scope=0)");
      at += static_cast<std::size_t>(n);
    }
    taken();
  }
};

/// The receiver copies, out of memory that the sender shares with it.
class direct_channel : public note_channel {
 public:
  direct_channel(std::byte* shared, ring_shape) : note_channel(shared) {}

  void receive(std::span<std::byte> message) {
    const auto& note = await_note();
    std::memcpy(message.data(), note.address, message.size());
    taken();
  }
};

}  // namespace weft::bench::raw
