// SPDX-License-Identifier: Apache-2.0
// A bell between processes that need not trust each other.
//
// A shared eventfd would do for processes that trust each other. But each holder of it can drain
// it, so that a ring of another process is lost, and can fill it and make it blocking, so that the
// next process that rings sleeps for ever. So each side has sockets of its own, which no
// other process holds: the sleeping side a wake-up receiver with a random name, and a process that
// rings others a wake-up sender.
//
// Every process of the network namespace finds the name in /proc/net/unix, so the name keeps no
// process out: a ring says a secret. A filter on the receiver drops all else that is sent, in its
// sender's system call, with the descriptors in it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/descriptors/fd.hpp"
#include "runtime/descriptors/socket_folder.hpp"

namespace weft::runtime {

/// What a process has to know to ring.
struct wakeup_address {
  /// The name of the socket is "weft-bell-" and these in hexadecimal.
  std::array<std::uint64_t, 2> name{};
  std::array<std::uint64_t, 2> secret{};
};

/// Receives the rings of peers for a sleeping thread. Stays readable from the first ring until
/// drain(). Move-only.
class wakeup_receiver {
 public:
  /// \throws weft::error (system) when the kernel gives no socket
  explicit wakeup_receiver(const socket_folder& names = {});

  int fd() const noexcept { return fd_.get(); }
  const wakeup_address& address() const noexcept { return address_; }

  /// Discards the rings so far; called by the thread that sleeps on it. Bounded, however fast a
  /// peer rings.
  void drain() noexcept;

 private:
  wakeup_address address_;
  unique_fd fd_;
  socket_file file_;
  // Before Linux 6.16 a peer that knows the secret can send descriptors.
  std::shared_ptr<disposal> disposal_ = std::make_shared<disposal>();
};

/// Rings receivers by their addresses: one socket for all of them, so that a peer costs no
/// descriptor. Move-only.
class wakeup_sender {
 public:
  /// \param names those of the receivers \throws weft::error (system) when the kernel gives no
  /// socket
  explicit wakeup_sender(const socket_folder& names = {});

  /// Makes the receiver readable. No effect if no process listens there. Never blocks and never
  /// raises a signal, whatever the other side does: a ring that finds its receiver's queue full is
  /// not needed, because then there are undrained ones. Any thread.
  void ring(const wakeup_address& to) noexcept;

 private:
  unique_fd fd_;
  std::string folder_;
};

/// Whether the process that had the bell with this path has ended.
bool is_left_bell(const std::string& path) noexcept;

}  // namespace weft::runtime
