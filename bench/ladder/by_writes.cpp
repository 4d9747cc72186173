// SPDX-License-Identifier: Apache-2.0
// The way without a channel: bare writes, by a device or into memory of both processes.
#include <atomic>
#include <cstring>
#include <stdexcept>
#include <vector>

#include "ladder/way.hpp"
#include "support/spin.hpp"
#include "transports/channel/memory_line.hpp"
#include "transports/verbs/channel/device_line.hpp"
#include "transports/verbs/hardware/finder.hpp"

namespace weft::bench::ladder_command {
namespace {

namespace verbs = transports::verbs;
using transports::channel::line;

/// As long as the longest window of messages. \param device the one that a line over verbs is on
std::unique_ptr<line> line_over(const std::string& transport, std::size_t bytes,
                                std::unique_ptr<verbs::device>& device) {
  const rdma_channel::settings s{.step = rdma_channel::rung::basic, .ring = bytes};
  if (transport == "shm") return std::make_unique<transports::channel::memory_line>(s);
  std::string why;
  device = verbs::find({}, why);
  if (!device) throw std::runtime_error(why);
  return std::make_unique<verbs::channel::device_line>(*device, s);
}

class raw_way final : public way {
 public:
  raw_way(const std::string& transport, const room& each)
      : way("raw", 0),
        most_(each.longest),
        line_(line_over(transport, (each.window + 1) * most_, device_)),
        mirror_(device_ ? 0 : line_->ring()) {}

  std::span<const std::byte> card() const override { return line_->card(); }
  void meet(std::span<const std::byte> card) override { line_->meet(card); }
  std::span<std::byte> out(std::size_t place, std::size_t size) override {
    return {(device_ ? line_->outbox() : mirror_.data()) + place * most_, size};
  }
  std::span<std::byte> in(std::size_t place, std::size_t size) override {
    return {line_->inbox() + place * most_, size};
  }
  void send(std::span<const std::byte> message) override {
    if (!device_) return copy(message);
    while (line_->places() == 0) continue;
    line_->write(static_cast<std::size_t>(message.data() - line_->outbox()), message.size());
  }
  void receive(std::span<std::byte> message, std::uint64_t sequence) override {
    const auto* const last = reinterpret_cast<const volatile std::uint64_t*>(
        message.data() + message.size() - stamp_size);
    std::size_t looks = 0;
    spin_until([&] {
      if (++looks % 1024 == 0) line_->look();  // the connection may have broken
      return *last == sequence;
    });
  }

 private:
  /// The last bytes last: the other side polls them.
  void copy(std::span<const std::byte> message) {
    std::byte* const there = line_->outbox() + (message.data() - mirror_.data());
    const std::size_t before = message.size() - stamp_size;
    std::memcpy(there, message.data(), before);
    std::atomic_thread_fence(std::memory_order_release);
    std::memcpy(there + before, message.data() + before, stamp_size);
  }

  const std::size_t most_;
  std::unique_ptr<verbs::device> device_;  // null: the line is over shared memory
  const std::unique_ptr<line> line_;
  std::vector<std::byte> mirror_;  // over shared memory, what is written from
};

}  // namespace

std::unique_ptr<way> by_writes(const std::string& transport, const room& each) {
  return std::make_unique<raw_way>(transport, each);
}

}  // namespace weft::bench::ladder_command
