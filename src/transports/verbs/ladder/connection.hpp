// SPDX-License-Identifier: Apache-2.0
// The base of all rungs: memory that the peer writes, memory to write to the peer from, and a queue
// pair between the two.
#pragma once

#include <cstdlib>
#include <memory>
#include <string>

#include "transports/verbs/ladder/pipe.hpp"
#include "transports/verbs/ladder/wire.hpp"

namespace weft::transports::verbs::ladder {

/// Posts writes and counts them. Bytes leave from the same place in `outbox` at which they arrive
/// in the peer's `inbox`. For one thread; every failure is thrown, and thrown again by each later
/// call.
class connection {
 public:
  /// \param s checked; \param d outlives this
  connection(device& d, const settings& s);
  ~connection() { shut(); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  const ladder::card& card() const noexcept { return card_; }
  void meet(std::span<const std::byte> peer);

  /// The ring that the peer writes.
  std::byte* inbox() const noexcept { return inbox_.at(0); }
  std::byte* outbox() const noexcept { return outbox_.at(0); }
  std::size_t ring() const noexcept { return card_.ring; }

  /// How many works could be posted now; polls for ended works when there are few places.
  std::uint32_t places();
  /// Writes bytes of the outbox, which must not change until the peer is known to have them.
  void write(std::size_t at, std::size_t size) { write(at, size, at); }
  /// Writes one of the peer's words.
  void tell(word words::*which, std::uint64_t value) { tell(address_of(which), {}, value); }
  void invite(std::uint64_t place, std::uint64_t size, std::uint64_t number);
  /// Moves memory of the application. \return the place of that work, for `is_done`
  std::uint32_t move(ibv_wr_opcode what, ibv_sge here, std::uint64_t there);
  bool is_done(std::uint32_t place) const noexcept {
    return static_cast<std::int32_t>(place - done_) < 0;
  }

  /// The value that the peer wrote last into a word of this side. It must lie between `least` and
  /// `most`, or the peer lies.
  std::uint64_t hear(word words::*which, std::uint64_t least, std::uint64_t most);
  /// An invitation of that number, if it has arrived.
  bool hear_invitation(std::uint64_t number, invitation& into);

  /// Polls for ended works. \throws weft::error if one failed
  void look();
  /// The peer has broken a rule, or the connection has broken.
  [[noreturn]] void fail(errc why, const std::string& what);
  [[noreturn]] void lie(const std::string& what);
  void check() const {
    if (trouble_) throw *trouble_;
  }
  /// Destroys the queue pair: no device touches the memory afterwards.
  void shut() noexcept;

 private:
  static constexpr std::uint32_t depth = sizes{}.sends;
  static constexpr std::uint32_t unsaid = depth / 4;

  /// Whole pages, which the device knows by addresses from 0 on.
  class block {
   public:
    block(device& d, std::size_t size, int access);
    std::byte* at(std::size_t offset) const noexcept { return memory_.get() + offset; }
    const registration& known() const noexcept { return *known_; }

   private:
    struct freed {
      void operator()(std::byte* p) const noexcept { std::free(p); }
    };
    std::unique_ptr<std::byte, freed> memory_;
    std::unique_ptr<registration> known_;
  };

  std::uint64_t address_of(word words::*which) const noexcept;
  word& own(word words::*which) const noexcept { return words_->*which; }
  void write(std::size_t at, std::size_t size, std::uint64_t to);
  void tell(std::uint64_t address, std::span<const std::uint64_t> before, std::uint64_t value);
  std::uint32_t post(ibv_send_wr& work, bool say);

  device& device_;
  const std::chrono::seconds timeout_;
  const std::size_t words_at_;  // behind the ring
  block inbox_, outbox_;
  words* const words_;  // of this side, in the inbox
  std::unique_ptr<queue_pair> on_;
  ladder::card card_{};
  std::uint32_t peer_key_ = 0;
  std::uint32_t posted_ = 0, done_ = 0;  // places, modulo 2^32
  std::uint32_t silent_ = 0;             // posted since the last signalled one
  std::unique_ptr<error> trouble_;
};

}  // namespace weft::transports::verbs::ladder
