// SPDX-License-Identifier: Apache-2.0
// The way over plain shared memory. Each end owns the memory of the ring that it writes; the other
// one opens it through /proc.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "ladder/memory_channel.hpp"
#include "ladder/way.hpp"
#include "runtime/descriptors/memory_file.hpp"

namespace weft::bench::ladder_command {
namespace {

constexpr std::size_t channel_bytes = memory_channel::bytes(256 * 1024);

class memory_way final : public way_on_heap {
 public:
  memory_way(std::string name, std::size_t chunk, const room& each)
      : way_on_heap(std::move(name), chunk, each),
        file_(runtime::make_memory_file("weft-bench-ladder", channel_bytes)),
        own_(runtime::map_own(file_, channel_bytes)),
        card_{::getpid(), file_.get()},
        to_peer_(channel(own_)) {}

  std::span<const std::byte> card() const override { return std::as_bytes(std::span(&card_, 1)); }
  void meet(std::span<const std::byte> card) override {
    place_of_file there;
    if (card.size() != sizeof there) throw std::runtime_error("a card of another size");
    std::memcpy(&there, card.data(), sizeof there);
    const auto path = fmt::format("/proc/{}/fd/{}", there.process, there.descriptor);
    const unique_fd file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
    if (!file)
      throw std::runtime_error(
          fmt::format("cannot open {}: {}; are both sides processes of one user on this host?",
                      path, std::strerror(errno)));
    peers_ = runtime::map_from_peer(file, channel_bytes, true);
    from_peer_.emplace(channel(peers_));
  }
  void send(std::span<const std::byte> message) override {
    while (!message.empty()) message = message.subspan(to_peer_.put(message));
  }
  void receive(std::span<std::byte> message, std::uint64_t) override {
    while (!message.empty()) message = message.subspan(from_peer_->get(message));
  }

 private:
  struct place_of_file {
    pid_t process = 0;
    int descriptor = -1;
  };

  memory_channel channel(const runtime::mapping& memory) const {
    return {{static_cast<std::byte*>(memory.get()), channel_bytes}, chunk()};
  }

  unique_fd file_;
  runtime::mapping own_, peers_;
  place_of_file card_;
  memory_channel to_peer_;
  std::optional<memory_channel> from_peer_;
};

}  // namespace

std::unique_ptr<way> by_memory(std::string name, std::size_t chunk, const room& each) {
  return std::make_unique<memory_way>(std::move(name), chunk, each);
}

}  // namespace weft::bench::ladder_command
