// SPDX-License-Identifier: Apache-2.0
// The way of one rank's messages to another one through the fabric.
#pragma once

#include <bit>

#include <weft/transport/link.hpp>

#include "scale/fabric.hpp"

namespace scale {

/// A transport like `verbs` in its strengths: frames that never find the way full, and reads of the
/// peer's memory. One thread; the fabric and the frame sinks outlive it.
class model_link final : public transports::link {
 public:
  /// \param sink the receiver's \param back the sender's own, for the ends of its reads
  model_link(fabric& f, peer_id from, peer_id to, transports::frame_sink& sink,
             transports::frame_sink& back) noexcept
      : link(kind()), fabric_(f), from_(from), to_(to), sink_(sink), back_(back) {}

  static const transports::traits& kind() noexcept {
    static constexpr transports::traits traits{.name = "model",
                                               .max_payload = 64 * 1024,
                                               .fragment = 64 * 1024,
                                               .first_piece = 64 * 1024,
                                               .prefers_eager_data = false};
    return traits;
  }

  std::string opened(transports::wireup_message) override { return {}; }

  transports::post send(const transports::frame_header& header,
                        const transports::frame_extension* extension,
                        transports::gather& data) noexcept override {
    auto f = std::make_unique<delivery>();
    f->from = from_;
    f->to = to_;
    f->sink = &sink_;
    f->header = header;
    if (extension) f->extension = *extension;
    f->payload.resize(header.size);
    transports::copy_out(f->payload.data(), data, header.size);
    fabric_.send(std::move(f));
    return transports::post::done;
  }

  transports::post get(transports::scatter into, transports::remote_address from, std::size_t size,
                       std::uint64_t cookie) noexcept override {
    auto g = std::make_unique<delivery>();
    g->from = to_;
    g->to = from_;
    g->sink = &back_;
    g->size = size;
    g->source = std::bit_cast<const std::byte*>(from.offset);
    g->into = into;
    g->cookie = cookie;
    fabric_.get(std::move(g));
    return transports::post::posted;
  }
  transports::preference prefers_get(transports::remote_address,
                                     std::size_t) const noexcept override {
    return transports::preference::yes;
  }
  /// All ranks are in this process: the address is the place.
  std::optional<transports::remote_address> expose(weft::const_buffer data) noexcept override {
    return transports::remote_address{0, std::bit_cast<std::uint64_t>(data.data())};
  }

  bool unconsumed() const noexcept override { return false; }

 private:
  fabric& fabric_;
  const peer_id from_, to_;
  transports::frame_sink& sink_;
  transports::frame_sink& back_;
};

}  // namespace scale
