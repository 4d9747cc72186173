// SPDX-License-Identifier: Apache-2.0
// Calls with a library that has no launcher: the program forks a side that calls and one that
// serves, each on a core, and the same code counts and times the calls of every library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "support/pair.hpp"
#include "support/pattern.hpp"

namespace weft::bench {

/// What both sides know.
class call_side {
 public:
  struct board;  // in the memory of both

  call_side(forked_member& me, std::size_t size, std::size_t callers);

  /// Bytes of an argument and of its result.
  std::size_t size() const noexcept { return size_; }
  /// Callers whose calls are under way together.
  std::size_t callers() const noexcept { return callers_; }

 protected:
  forked_member& me_;
  board& board_;

 private:
  std::size_t size_;
  std::size_t callers_;
};

/// The side that answers each call with the bytes of its argument.
class serving_side : public call_side {
 public:
  using call_side::call_side;
  /// It listens there, on the loopback interface. Wakes the other side.
  void listens_at(std::uint16_t port);
  /// Whether there are no more calls. One load: for a loop that polls.
  bool ended() const noexcept;
};

/// The side that calls.
class calling_side : public call_side {
 public:
  calling_side(forked_member& me, std::size_t size, std::size_t callers, double effort);
  /// Waits for the port of the other side. \return it
  std::uint16_t port();
  /// The argument of every call. It stays as it is.
  std::span<const std::byte> argument() { return out_[0]; }
  /// Copies a result to its caller's memory, as weft's calls do.
  /// \throws std::runtime_error when it has another size
  void take(std::size_t caller, std::span<const std::byte> result);
  /// Warms up, measures once and reports it, then compares each caller's last result.
  /// \param run makes `each` calls by every caller, one after the other, and returns when all have
  ///        ended
  void measure(const std::function<void(std::size_t each)>& run);

 private:
  double effort_;
  heap_buffers out_;
  heap_buffers in_;
};

/// The address of the serving side.
inline constexpr const char* loopback = "127.0.0.1";

/// The whole program: one line of JSON for each size, with one caller and with `--outstanding`
/// callers. Both functions return when calling_side::measure has.
/// \param library its name and version
int call_peer_main(int argc, char** argv, const std::string& library,
                   const std::function<void(serving_side&)>& serve,
                   const std::function<void(calling_side&)>& ask);

}  // namespace weft::bench
