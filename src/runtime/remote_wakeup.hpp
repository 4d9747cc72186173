// SPDX-License-Identifier: Apache-2.0
// A bell between processes that need not trust each other.
//
// An eventfd that peers share would do for friends: but each holder can drain it, so that a
// ring of another is lost, and can fill it and make it blocking, so that the next one that rings
// sleeps for ever. So each side has a socket of its own, which no other process holds: the sleeper
// an *ear* with a random name, and everybody who rings it a *rope* that is connected to that name.
#pragma once

#include <array>
#include <cstdint>

#include "runtime/fd.hpp"

namespace weft::runtime {

/// 128 random bits: the abstract Unix address "weft-bell-" and these in hexadecimal.
using wakeup_address = std::array<std::uint64_t, 2>;

/// Where a sleeper hears its peers. Stays readable from the first ring until drain(). Move-only.
class wakeup_receiver {
 public:
  /// \throws weft::error (system) when the kernel gives no socket
  wakeup_receiver();

  int fd() const noexcept { return fd_.get(); }
  const wakeup_address& name() const noexcept { return name_; }

  /// Forgets the rings so far; by the thread that sleeps on it. Bounded, however fast a peer rings.
  void drain() noexcept;

 private:
  wakeup_address name_{};
  unique_fd fd_;
};

/// One peer's way to ring one ear. Move-only.
class wakeup_sender {
 public:
  /// \throws weft::error (protocol_error) when no process listens under that name, or (system)
  explicit wakeup_sender(wakeup_address name);

  /// Makes the ear readable. Never blocks and never raises a signal, whatever the other side does:
  /// a ring that finds no room is not needed, because then there are some unheard. Any thread.
  void ring() noexcept;

 private:
  unique_fd fd_;
};

}  // namespace weft::runtime
