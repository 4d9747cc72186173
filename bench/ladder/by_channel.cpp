// SPDX-License-Identifier: Apache-2.0
// The ways over an RDMA channel of any rung.
#include "ladder/way.hpp"

namespace weft::bench::ladder_command {
namespace {

class channel_way final : public way_on_heap {
 public:
  channel_way(std::string name, const rdma_channel::settings& s, const room& each)
      : way_on_heap(std::move(name), s.chunk, each), channel_(rdma_channel::open(s)) {}

  std::span<const std::byte> card() const override { return channel_->card(); }
  void meet(std::span<const std::byte> card) override { channel_->meet(card); }
  void send(const_buffer message) override {
    while (!message.empty()) {
      const std::size_t n = channel_->put({&message, 1});
      message = message.subspan(n);
      if (n == 0) channel_->progress();
    }
  }
  void receive(mutable_buffer message, std::uint64_t) override {
    while (!message.empty()) {
      const std::size_t n = channel_->get({&message, 1});
      message = message.subspan(n);
      if (n == 0) channel_->progress();
    }
  }

 private:
  const std::unique_ptr<rdma_channel> channel_;
};

}  // namespace

std::unique_ptr<way> by_channel(std::string name, const rdma_channel::settings& s,
                                const room& each) {
  return std::make_unique<channel_way>(std::move(name), s, each);
}

}  // namespace weft::bench::ladder_command
