// SPDX-License-Identifier: Apache-2.0
#include <weft/stream.hpp>

#include <utility>

#include "proto/streams/stream.hpp"

namespace weft {

using runtime::engine;

namespace {

/// \throws weft::error (invalid_argument) when there is none
proto::stream& opened(const std::shared_ptr<proto::stream>& s) {
  if (!s) throw error(errc::invalid_argument, proto::no_stream);
  return *s;
}

/// Moves what can be moved at once, after a pass. \return the number of bytes, or why none ever
/// will be moved
template <class Half, class Do>
result<std::size_t> at_once(proto::stream& s, Half& half, Do what) {
  s.engine().poll_once();
  std::size_t done = 0;
  errc status = errc::ok;
  const char* cause = nullptr;
  {
    const engine::holder hold(s.engine());
    done = what();
    status = half.status();
    cause = half.cause();
  }
  if (done != 0 || status == errc::ok) return done;
  return error(status, s.explain(status, cause));
}

result<std::size_t> put(proto::stream* s, const detail::buffer_list<const_buffer>& data) {
  if (!s) return error(errc::invalid_argument, proto::no_stream);
  return at_once(*s, s->writer(), [&] { return s->writer().put(data); });
}

result<std::size_t> get(proto::stream* s, const detail::buffer_list<mutable_buffer>& into) {
  if (!s) return error(errc::invalid_argument, proto::no_stream);
  return at_once(*s, s->reader(), [&] { return s->reader().get(into); });
}

}  // namespace

stream::stream(const endpoint& peer, std::uint32_t number, stream_options chosen)
    : state_(proto::stream::open(detail::internals::named_peer(peer).shared_from_this(), number,
                                 chosen.window)) {}

stream& stream::operator=(stream&& other) noexcept {
  if (state_ && state_ != other.state_ && !state_->engine().is_inherited()) state_->drop();
  state_ = std::move(other.state_);
  return *this;
}

stream::~stream() {
  if (state_ && !state_->engine().is_inherited()) state_->drop();
}

result<std::size_t> stream::try_write(const_buffer data) { return put(state_.get(), data); }
result<std::size_t> stream::try_write(std::span<const const_buffer> list) {
  return put(state_.get(), list);
}
result<std::size_t> stream::try_read(mutable_buffer into) { return get(state_.get(), into); }
result<std::size_t> stream::try_read(std::span<const mutable_buffer> list) {
  return get(state_.get(), list);
}

void stream::finish() {
  proto::stream& s = opened(state_);
  const engine::holder hold(s.engine());
  s.writer().finish(true);
}

void stream::close() {
  proto::stream& s = opened(state_);
  const engine::holder hold(s.engine());
  s.close();
}

std::uint64_t stream::written() const {
  proto::stream& s = opened(state_);
  const engine::holder hold(s.engine());
  return s.writer().written();
}

std::uint64_t stream::bytes_read() const {
  proto::stream& s = opened(state_);
  const engine::holder hold(s.engine());
  return s.reader().handed_out();
}

std::uint32_t stream::number() const { return opened(state_).number(); }

}  // namespace weft
