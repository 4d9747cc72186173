// SPDX-License-Identifier: Apache-2.0
// The ways over a device: a pipe of any rung, and bare writes.
#include <stdexcept>

#include "ladder/way.hpp"
#include "support/spin.hpp"
#include "transports/verbs/hardware/finder.hpp"
#include "transports/verbs/ladder/connection.hpp"

namespace weft::bench::ladder_command {
namespace {

namespace verbs = transports::verbs;
namespace ladder = verbs::ladder;

std::unique_ptr<verbs::device> first_device() {
  std::string why;
  auto found = verbs::find({}, why);
  if (!found) throw std::runtime_error(why);
  return found;
}

class pipe_way final : public way_on_heap {
 public:
  pipe_way(std::string name, const ladder::settings& s, const room& each)
      : way_on_heap(std::move(name), s.chunk, each), pipe_(ladder::open(*device_, s)) {}

  std::span<const std::byte> card() const override { return pipe_->card(); }
  void meet(std::span<const std::byte> card) override { pipe_->meet(card); }
  void send(const_buffer message) override {
    while (!message.empty()) {
      const std::size_t n = pipe_->put({&message, 1});
      message = message.subspan(n);
      if (n == 0) pipe_->progress();
    }
  }
  void receive(mutable_buffer message, std::uint64_t) override {
    while (!message.empty()) {
      const std::size_t n = pipe_->get({&message, 1});
      message = message.subspan(n);
      if (n == 0) pipe_->progress();
    }
  }

 private:
  const std::unique_ptr<verbs::device> device_ = first_device();
  const std::unique_ptr<ladder::pipe> pipe_;
};

class raw_way final : public way {
 public:
  explicit raw_way(const room& each)
      : way("raw", 0),
        most_(each.longest),
        line_(*device_, {.step = ladder::rung::basic, .ring = (each.window + 1) * most_}) {}

  std::span<const std::byte> card() const override {
    return std::as_bytes(std::span(&line_.card(), 1));
  }
  void meet(std::span<const std::byte> card) override { line_.meet(card); }
  std::span<std::byte> out(std::size_t place, std::size_t size) override {
    return {line_.outbox() + place * most_, size};
  }
  std::span<std::byte> in(std::size_t place, std::size_t size) override {
    return {line_.inbox() + place * most_, size};
  }
  void send(std::span<const std::byte> message) override {
    while (line_.places() == 0) continue;
    line_.write(static_cast<std::size_t>(message.data() - line_.outbox()), message.size());
  }
  void receive(std::span<std::byte> message, std::uint64_t sequence) override {
    const auto* const last = reinterpret_cast<const volatile std::uint64_t*>(
        message.data() + message.size() - stamp_size);
    std::size_t looks = 0;
    spin_until([&] {
      if (++looks % 1024 == 0) line_.look();  // the connection may have broken
      return *last == sequence;
    });
  }

 private:
  const std::size_t most_;
  const std::unique_ptr<verbs::device> device_ = first_device();
  ladder::connection line_;
};

}  // namespace

std::unique_ptr<way> by_pipe(std::string name, const ladder::settings& s, const room& each) {
  return std::make_unique<pipe_way>(std::move(name), s, each);
}

std::unique_ptr<way> by_writes(const room& each) { return std::make_unique<raw_way>(each); }

}  // namespace weft::bench::ladder_command
