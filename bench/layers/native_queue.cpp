// SPDX-License-Identifier: Apache-2.0
#include "layers/native_queue.hpp"

#include <stdexcept>

#ifndef WEFT_WITHOUT_QDMA

#include <cstring>
#include <utility>
#include <vector>

#include <weft/transport/frame.hpp>

#include "runtime/descriptors/memory_file.hpp"
#include "support/spin.hpp"
#include "transports/qdma/receive_queue.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::bench {

namespace qdma_queues = transports::qdma;

namespace {

static_assert(native_queue::header_bytes == sizeof(transports::frame_header));
static_assert(native_queue::most_bytes + native_queue::header_bytes == qdma_queues::slot_bytes);

struct shared_queue {
  qdma_queues::queue_memory queue;
  qdma_queues::queue_progress progress;
};

unique_fd hand_over(int line, const unique_fd& own) {
  std::vector<unique_fd> fds;
  fds.push_back(runtime::duplicate(own.get()));
  const std::byte mark{1};
  if (wireup::send_packet(line, {}, {&mark, 1}, fds) != 0)
    throw std::runtime_error("a queue could not be handed over");
  std::vector<std::byte> room(64);
  wireup::packet got;
  wireup::arrival came{};
  spin_until([&] {
    came = wireup::receive_packet(line, room, got);
    return came != wireup::arrival::nothing;
  });
  if (came != wireup::arrival::packet || got.fds.size() != 1)
    throw std::runtime_error("the other process has gone");
  return std::move(got.fds.front());
}

constexpr std::uint32_t publish_every = qdma_queues::slot_count / 4;  // as the transport does

}  // namespace

struct native_queue::parts {
  explicit parts(int line)
      : memory(runtime::make_memory_file("weft-bench-queue", sizeof(shared_queue))),
        own(runtime::map_own(memory, sizeof(shared_queue))),
        other(runtime::map_from_peer(hand_over(line, memory), sizeof(shared_queue), true)),
        reader(at(own).queue, at(own).progress),
        writer(at(other).queue, at(other).progress, 1) {}

  static shared_queue& at(const runtime::mapping& m) {
    return *static_cast<shared_queue*>(m.get());
  }

  unique_fd memory;
  runtime::mapping own, other;
  qdma_queues::queue_reader reader;
  qdma_queues::queue_writer writer;
};

native_queue::native_queue(int line) : parts_(std::make_unique<parts>(line)) {}

native_queue::~native_queue() = default;

void native_queue::send(std::span<const std::byte> message) {
  const std::size_t size = header_bytes + message.size();
  const auto at = parts_->writer.claim();
  if (!at) throw std::runtime_error("a receive queue is full");
  std::byte* const to = parts_->writer.room(*at, size);
  const transports::frame_header header{0, static_cast<std::uint32_t>(message.size()), 0, 0, 0};
  std::memcpy(to, &header, sizeof header);
  std::memcpy(to + sizeof header, message.data(), message.size());
  parts_->writer.publish(*at, size);
}

std::size_t native_queue::receive(std::span<std::byte> into) {
  qdma_queues::queue_reader& reader = parts_->reader;
  auto message = reader.peek();
  while (!message) message = reader.peek();
  const std::size_t size = message->bytes.size() - header_bytes;
  if (size > into.size()) throw std::runtime_error("a message does not fit");
  std::memcpy(into.data(), message->bytes.data() + header_bytes, size);
  reader.pop();
  if (reader.unpublished() >= publish_every) reader.publish();
  return size;
}

}  // namespace weft::bench

#else

namespace weft::bench {

struct native_queue::parts {};

native_queue::native_queue(int) {
  throw std::runtime_error("this weft-bench was built without qdma (WEFT_WITH_QDMA)");
}
native_queue::~native_queue() = default;
void native_queue::send(std::span<const std::byte>) {}
std::size_t native_queue::receive(std::span<std::byte>) { return 0; }

}  // namespace weft::bench

#endif
