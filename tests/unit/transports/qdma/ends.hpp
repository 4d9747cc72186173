// SPDX-License-Identifier: Apache-2.0
// Devices within one process, each with its own engine, that are connected.
#pragma once

#include <unistd.h>

#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transports/qdma/device/device.hpp"

namespace weft::tests::qdma {

namespace qd = weft::transports::qdma;
namespace wq = weft::qdma;

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// One side. Polled by the test's thread.
struct side {
  explicit side(qd::table t)
      : engine(progress_mode::polling, {}, "epoll"), device(engine, std::move(t), {1, 2}) {}
  ~side() {
    const runtime::engine::holder hold(engine);
    device.close();
  }

  void start(std::vector<wq::descriptor> steps) {
    const runtime::engine::holder hold(engine);
    device.start(std::make_shared<const std::vector<wq::descriptor>>(std::move(steps)));
  }
  unsigned poll() {
    const runtime::engine::holder hold(engine);
    return device.poll();
  }
  wq::process id() const { return static_cast<wq::process>(device.self()); }

  runtime::engine engine;
  qd::device device;
};

/// Waits for an event's trigger, as co_await does.
struct trigger : wq::trigger_operation {
  trigger(side& s, std::uint64_t key) : trigger_operation({nullptr, key}, &ended), owner(s) {
    const runtime::engine::holder hold(s.engine);
    over = s.device.wait(*this);
  }
  ~trigger() {
    const runtime::engine::holder hold(owner.engine);
    if (queued) owner.device.cancel(*this);
  }
  static void ended(operation& op) noexcept { static_cast<trigger&>(op).over = true; }
  side& owner;
  bool over = false;
};

struct receipt : wq::receive_operation {
  receipt(side& s, std::uint32_t number, mutable_buffer buffer)
      : receive_operation({nullptr, number, buffer}, &ended), owner(s) {
    const runtime::engine::holder hold(s.engine);
    over = s.device.receive(*this);
  }
  ~receipt() {
    const runtime::engine::holder hold(owner.engine);
    if (queued) owner.device.cancel(*this);
  }
  static void ended(operation& op) noexcept { static_cast<receipt&>(op).over = true; }
  side& owner;
  bool over = false;
};

/// A node with some contexts that are all connected.
struct node {
  explicit node(std::size_t n = 2) {
    sides.push_back(std::make_unique<side>(qd::table::make()));
    while (sides.size() < n)
      sides.push_back(std::make_unique<side>(
          qd::table::from(runtime::duplicate(sides[0]->device.contexts().fd()))));
    for (auto& a : sides)
      for (auto& b : sides)
        if (a != b) a->device.meet(b->device.card(), ::getpid());
  }
  side& operator[](std::size_t i) { return *sides[i]; }

  /// Polls until nothing happens any more.
  void settle() {
    for (int idle = 0; idle < 3;) {
      unsigned events = 0;
      for (auto& s : sides) events += s->poll();
      idle = events == 0 ? idle + 1 : 0;
    }
    for (auto& s : sides) s->engine.poll_once();
  }

  std::vector<std::unique_ptr<side>> sides;
};

inline wq::descriptor posting(wq::process to, std::uint32_t queue, std::string_view text) {
  wq::descriptor d;
  d.kind = wq::descriptor::what::post;
  d.to = to;
  d.queue = queue;
  d.payload.assign(bytes_of(text).begin(), bytes_of(text).end());
  return d;
}

inline wq::descriptor signalling(wq::process to, std::uint64_t event) {
  wq::descriptor d;
  d.to = to;
  d.event = event;
  return d;
}

inline wq::descriptor copying(wq::descriptor::what kind, std::uint64_t local, wq::process to,
                              std::uint64_t remote, std::uint64_t size,
                              std::uint64_t remote_offset = 0, std::uint64_t local_offset = 0) {
  wq::descriptor d;
  d.kind = kind;
  d.to = to;
  d.local_key = local;
  d.local_offset = local_offset;
  d.remote_key = remote;
  d.remote_offset = remote_offset;
  d.size = size;
  return d;
}

}  // namespace weft::tests::qdma
