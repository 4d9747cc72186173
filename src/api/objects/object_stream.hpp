// SPDX-License-Identifier: Apache-2.0
// The stream by which the pieces of an object travel after the first one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "api/objects/object_pieces.hpp"
#include "proto/streams/stream.hpp"

namespace weft::detail {

/// The immediate word of a message that begins an object: a mark, and the number of the stream.
inline constexpr std::uint64_t object_mark = std::uint64_t{0x77'76'61'6c} << 32;  // "wval"

/// The number of the stream that follows; none: the message is a whole object.
inline std::optional<std::uint32_t> stream_after(const received& first) noexcept {
  if (first.immediate >> 32 != object_mark >> 32 || first.size != object_piece) return {};
  return static_cast<std::uint32_t>(first.immediate);
}

/// Owns one end. The other side reads, or writes, until this one is destroyed.
class object_stream {
 public:
  /// As stream::open_for_object.
  object_stream(std::shared_ptr<proto::peer> with, std::uint32_t number, proto::stream_way way,
                std::size_t window)
      : state_(proto::stream::open_for_object(std::move(with), number, way, window)) {}
  object_stream(const object_stream&) = delete;
  object_stream& operator=(const object_stream&) = delete;
  ~object_stream() {
    if (!state_->engine().is_inherited()) state_->drop();
  }

  proto::stream* get() const noexcept { return state_.get(); }

  /// All was written, or read. The request ends when the other side knows it; before, the context
  /// must not end.
  stream_closed_request finish() noexcept {
    const runtime::engine::holder hold(state_->engine());
    state_->close();
    return {state_.get()};
  }

 private:
  const std::shared_ptr<proto::stream> state_;
};

}  // namespace weft::detail
