// SPDX-License-Identifier: Apache-2.0
// Values on streams. A frame is the number of its bytes, as 64 bits, and the bytes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include <weft/coro/as_result.hpp>
#include <weft/stream.hpp>

#include "proto/streams/lent_bytes.hpp"

namespace weft::detail {

namespace {

using length = std::uint64_t;

// Bytes that are fetched at once: several short frames, and a part of a long one.
constexpr std::size_t least_fetched = 4096, most_fetched = std::size_t{1} << 20;

class whole_sink final : public sink {
 public:
  const_buffer bytes() const noexcept { return {memory_.data(), std::size_t(written())}; }

 private:
  mutable_buffer next_room() override {
    const std::size_t used = memory_.size();
    memory_.resize(std::max<std::size_t>(2 * used, 512));
    return mutable_buffer(memory_).subspan(used);
  }
  std::vector<std::byte> memory_;
};

class frame_source final : public source {
 public:
  explicit frame_source(const_buffer all) noexcept : all_(all) {}

 private:
  const_buffer next_bytes() override { return std::exchange(all_, {}); }
  const_buffer all_;
};

/// Reads a frame if it is there. \return 0, or the number of bytes that are missing
std::size_t take_frame(proto::stream& from, const frame_reader& what, at_most limit) {
  proto::lent_bytes bytes(from);
  const const_buffer all = bytes.all();
  length n = 0;
  if (all.size() < sizeof n) return sizeof n - all.size();
  std::memcpy(&n, all.data(), sizeof n);
  if (n > limit.bytes)
    throw error(errc::truncated,
                from.explain(errc::truncated,
                             fmt::format("a value of {} bytes, where at most {} are accepted; pass "
                                         "a larger at_most",
                                         n, limit.bytes)
                                 .c_str()));
  const auto size = static_cast<std::size_t>(n);
  const const_buffer rest = all.subspan(sizeof n);
  if (rest.size() < size) return size - rest.size();
  struct taken {
    proto::lent_bytes& from;
    std::size_t size;
    ~taken() { from.take(size); }
  };
  const taken at_end{bytes, sizeof n + size};  // also when it is no value
  what.read(rest.first(size), what.into);
  return 0;
}

}  // namespace

void frame_does_not_fit(std::size_t frame, std::size_t unit) {
  throw error(errc::protocol_error,
              fmt::format("a value of {} bytes was read as one of {}, or as elements of so many; "
                          "both sides must name the same type",
                          frame, unit));
}

void read_object_in(const_buffer frame, object_reader what) {
  frame_source bytes(frame);
  what.get(bytes, what.result);
  if (bytes.bytes_read() != frame.size())
    throw error(errc::protocol_error,
                fmt::format("{} bytes are left over after a value of {} bytes; both sides must "
                            "name the same type",
                            frame.size() - bytes.bytes_read(), bytes.bytes_read()));
}

task<void> read_frame(stream_handle from, frame_reader what, at_most limit) {
  proto::stream& s = proto::named(from);
  while (const std::size_t missing = take_frame(s, what, limit)) {
    const stream_fetch_request more{&s, std::clamp(missing, least_fetched, most_fetched)};
    const std::size_t n = co_await more;
    if (n == 0) throw proto::end_of(s, proto::lent_bytes(s).all().size(), "a value");
  }
}

task<void> write_frame(stream_handle to, const_buffer bytes) {
  proto::stream& s = proto::named(to);
  const length n = bytes.size();
  const std::array<const_buffer, 2> frame{std::as_bytes(std::span(&n, 1)), bytes};
  const auto written = [&s] {
    const runtime::engine::holder hold(s.engine());
    return s.writer().written();
  };
  const std::uint64_t before = written();
  const stream_write_request all{&s, std::span<const const_buffer>(frame)};
  const result<void> end = co_await as_result(all);
  if (end.code() == errc::stopped && written() != before) {
    const runtime::engine::holder hold(s.engine());
    s.writer().finish(false);
  }
  if (!end) throw end.failure();
}

task<void> write_object_frame(stream_handle to, object_writer what) {
  whole_sink bytes;
  what.put(bytes, what.object);
  co_await write_frame(std::move(to), bytes.bytes());
}

}  // namespace weft::detail
