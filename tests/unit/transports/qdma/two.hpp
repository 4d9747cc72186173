// SPDX-License-Identifier: Apache-2.0
// Two transports within one process, with a link in each direction.
#pragma once

#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "runtime/progress/engine.hpp"
#include "transports/qdma/transport.hpp"

namespace weft::tests::qdma {

namespace qd = weft::transports::qdma;
namespace tr = weft::transports;

using bytes = std::vector<std::byte>;

inline bytes pattern(std::size_t size, unsigned seed) {
  bytes b(size);
  for (std::size_t i = 0; i != size; ++i) b[i] = static_cast<std::byte>(i * 7 + seed + i / 251);
  return b;
}

/// Records the calls.
struct ear final : tr::frame_sink {
  struct frame {
    tr::frame_header header;
    tr::frame_extension extension;
    bytes payload;
  };
  struct ending {
    std::uint64_t cookie;
    bool well;
    bool chained;            // a frame had left by then
    std::size_t frames_yet;  // the number of frames that had come
  };
  bool on_frame(const tr::frame_header& h, const tr::frame_extension* x,
                const std::byte* payload) noexcept override {
    frames.push_back({h, x ? *x : tr::frame_extension{}, bytes(payload, payload + h.size)});
    return h.kind != 0;
  }
  void on_transferred(std::uint64_t cookie, bool well) noexcept override {
    endings.push_back({cookie, well, chained == cookie, frames.size()});
  }
  void on_chained(std::uint64_t cookie) noexcept override { chained = cookie; }
  void on_writable() noexcept override { ++rooms; }
  void on_broken(weft::errc) noexcept override { ++breaks; }

  std::vector<frame> frames;
  std::vector<ending> endings;
  std::uint64_t chained = 0;  // the last one
  int rooms = 0, breaks = 0;
};

struct two {
  const weft::copy_completion ends;
  runtime::engine left_turns{progress_mode::polling, {}, "epoll"},
      right_turns{progress_mode::polling, {}, "epoll"};
  qd::qdma_transport left{left_turns, ends}, right{right_turns, ends};
  ear at_left, at_right;
  std::unique_ptr<tr::link> to_right = connect(left, at_left, right, at_right);
  std::unique_ptr<tr::link> to_left = connect(right, at_right, left, at_left);

  explicit two(weft::copy_completion how = weft::copy_completion::direct) : ends(how) {}
  ~two() {
    to_right.reset();
    to_left.reset();
    left.forget(at_left);
    right.forget(at_right);
  }

  static std::unique_ptr<tr::link> connect(qd::qdma_transport& from, ear& in,
                                           qd::qdma_transport& to, ear& there) {
    const tr::counterpart who{::getpid(), {}, 0};
    tr::wireup_message offer, answer;
    std::unique_ptr<tr::link> made = from.open(in, who, offer);
    const std::string refused = to.accept(there, who, std::move(offer), answer);
    return refused.empty() && made->opened(std::move(answer)).empty() ? std::move(made) : nullptr;
  }

  static tr::post send(tr::link& over, const bytes& payload, std::uint8_t kind = 1,
                       const tr::frame_extension* x = nullptr) {
    const tr::frame_header h{5, static_cast<std::uint32_t>(payload.size()), kind,
                             x ? tr::has_extension : std::uint8_t{0}, 0};
    return over.send_contiguous(h, x, payload.data());
  }
};

}  // namespace weft::tests::qdma
