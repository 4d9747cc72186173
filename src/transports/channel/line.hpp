// SPDX-License-Identifier: Apache-2.0
// What all rungs of the RDMA channel stand on: memory of this side that the peer writes, memory to
// write to the peer from, and a way to move memory of the application.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <weft/error.hpp>
#include <weft/rdma_channel.hpp>

#include "transports/channel/wire.hpp"
#include "transports/registration_cache.hpp"

namespace weft::transports::channel {

using rung = rdma_channel::rung;
using settings = rdma_channel::settings;

constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

/// Where the words lie, behind a ring of that size.
constexpr std::size_t words_behind(std::size_t ring) { return round_up(ring, alignof(words)); }

/// One end of a connection. Bytes leave from the same place in `outbox` at which they arrive in the
/// peer's `inbox`. For one thread; every failure is thrown, and thrown again by each later call.
class line {
 public:
  /// Memory of the application in use, under the name by which the peer reaches it. Must not
  /// outlive the line.
  struct loan {
    registration_cache::use known;
    std::uint64_t place = 0;
  };

  explicit line(const settings& s) noexcept;
  virtual ~line() = default;
  line(const line&) = delete;
  line& operator=(const line&) = delete;

  virtual std::span<const std::byte> card() const noexcept = 0;
  virtual void meet(std::span<const std::byte> peer) = 0;

  /// The ring that the peer writes.
  std::byte* inbox() const noexcept { return inbox_; }
  /// The peer's ring, or a mirror of it, from which `write` takes. Null before `meet`.
  std::byte* outbox() const noexcept { return outbox_; }
  std::size_t ring() const noexcept { return shape_.ring; }

  /// How many works could be posted now; looks for ended works when there are few places.
  virtual std::uint32_t places() = 0;
  /// Writes bytes of the outbox, which must not change until the peer is known to have them.
  virtual void write(std::size_t at, std::size_t size) = 0;
  /// Writes one of the peer's words.
  virtual void tell(word words::*which, std::uint64_t value) = 0;
  /// Writes the peer's invitation.
  virtual void invite(std::uint64_t place, std::uint64_t size, std::uint64_t number) = 0;

  /// Bytes of one move.
  virtual std::size_t longest_move() const noexcept = 0;
  /// Makes memory of the application known. \return false: it cannot be; `refusal` says why
  virtual bool lend(std::span<std::byte> memory, memory_access how, loan& into) = 0;
  virtual std::string refusal() const = 0;
  /// Reads the peer's memory into `here`, which lies in what is lent, or writes it there.
  /// \param there as the peer named it \return the place of that work, for `is_done`
  virtual std::uint32_t read(const loan& l, std::span<std::byte> here, std::uint64_t there) = 0;
  virtual std::uint32_t write_to(const loan& l, std::span<const std::byte> here,
                                 std::uint64_t there) = 0;
  bool is_done(std::uint32_t place) const noexcept {
    return static_cast<std::int32_t>(place - done_) < 0;
  }

  /// The value that the peer wrote last into a word of this side. It must lie between `least` and
  /// `most`, or the peer lies.
  std::uint64_t hear(word words::*which, std::uint64_t least, std::uint64_t most);
  /// An invitation of that number, if it has arrived.
  bool hear_invitation(std::uint64_t number, invitation& into) noexcept;

  /// Looks for ended works, and for the peer. \throws weft::error if one failed, or it has gone
  virtual void look() = 0;
  /// The peer has broken a rule, or the connection has broken.
  [[noreturn]] void fail(errc why, const std::string& what);
  [[noreturn]] void lie(const std::string& what);
  /// \throws weft::error what has broken the line, or that it has met no peer
  void check() const {
    if (trouble_) [[unlikely]]
      throw *trouble_;
    if (!outbox_) [[unlikely]]
      not_met();
  }
  /// Afterwards the peer touches no memory of this side.
  virtual void shut() noexcept = 0;

 protected:
  /// \throws weft::error (invalid_argument) when the two ends have chosen differently
  void compare(const shape& peers);
  void check_unmet() const;
  /// No call works any more.
  virtual void break_off() noexcept {}
  void note_closed();

  const shape shape_;
  std::byte* inbox_ = nullptr;
  std::byte* outbox_ = nullptr;
  words* words_ = nullptr;               // of this side, behind the inbox
  std::uint32_t posted_ = 0, done_ = 0;  // places, modulo 2^32

 private:
  [[noreturn]] static void not_met();

  std::unique_ptr<error> trouble_;
};

}  // namespace weft::transports::channel
