// SPDX-License-Identifier: Apache-2.0
// A line of an RDMA channel over a device: memory that the peer writes, memory to write to the peer
// from, and a queue pair between the two.
#pragma once

#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>

#include "transports/channel/line.hpp"
#include "transports/verbs/channel/wire.hpp"
#include "transports/verbs/regions.hpp"

namespace weft::transports::verbs::channel {

using transports::channel::invitation;
using transports::channel::line;
using transports::channel::round_up;
using transports::channel::rung;
using transports::channel::settings;
using transports::channel::word;
using transports::channel::words;

/// Posts writes and counts them.
class device_line : public line {
 public:
  /// \param s checked; \param d used by this line alone, and outlives it
  /// \throws weft::error with the cause and the cure when the device has no room
  device_line(device& d, const settings& s);
  ~device_line() override { device_line::shut(); }

  std::span<const std::byte> card() const noexcept override {
    return std::as_bytes(std::span(&card_, 1));
  }
  void meet(std::span<const std::byte> peer) override;
  /// What is written from once the two have met.
  std::byte* mirror() const noexcept { return mirror_.at(0); }

  std::uint32_t places() override;
  void write(std::size_t at, std::size_t size) override { write(at, size, at); }
  void tell(word words::*which, std::uint64_t value) override {
    tell(address_of(which), {}, value);
  }
  void invite(std::uint64_t place, std::uint64_t size, std::uint64_t number) override;

  std::size_t longest_move() const noexcept override { return device_.can().longest; }
  bool lend(std::span<std::byte> memory, memory_access how, loan& into) override;
  std::string refusal() const override;
  std::uint32_t read(const loan& l, std::span<std::byte> here, std::uint64_t there) override;
  std::uint32_t write_to(const loan& l, std::span<const std::byte> here,
                         std::uint64_t there) override;

  void look() override;
  /// Destroys the queue pair: no device touches the memory afterwards.
  void shut() noexcept override;

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

  void break_off() noexcept override;
  std::uint64_t address_of(word words::*which) const noexcept;
  void write(std::size_t at, std::size_t size, std::uint64_t to);
  void tell(std::uint64_t address, std::span<const std::uint64_t> before, std::uint64_t value);
  std::uint32_t move(ibv_wr_opcode what, const loan& l, const std::byte* here, std::size_t size,
                     std::uint64_t there);
  std::uint32_t post(ibv_send_wr& work, bool say);

  device& device_;
  const std::chrono::seconds timeout_;
  const std::size_t words_at_;  // behind the ring
  block shown_, mirror_;
  regions regions_;
  registration_cache cache_;
  std::unique_ptr<queue_pair> on_;
  channel::card card_{};
  std::uint32_t peer_key_ = 0;
  std::uint32_t silent_ = 0;  // posted since the last signalled one
};

}  // namespace weft::transports::verbs::channel
