// SPDX-License-Identifier: Apache-2.0
#include "proto/streams/stream.hpp"

#include <fmt/format.h>

#include <utility>

#include "proto/messenger/message_errors.hpp"
#include "proto/peer/protocol_tables.hpp"

namespace weft::proto {

stream::stream(std::shared_ptr<proto::peer> with, std::uint32_t number, stream_way way,
               stream_way back, std::size_t window)
    : services_(with->services()),
      table_(with->tables().streams),
      with_(std::move(with)),
      number_(number),
      way_(way),
      reader_(services_, *this, back, window),
      writer_(services_, *this, way) {}

std::shared_ptr<stream> stream::open(std::shared_ptr<proto::peer> with, std::uint32_t number,
                                     std::size_t window) {
  if (window < smallest_stream_window || window > largest_stream_window)
    throw error(errc::invalid_argument,
                fmt::format("a stream's window of {} bytes; it can be {} to {}", window,
                            smallest_stream_window, largest_stream_window));
  const runtime::engine::holder hold(with->engine());
  stream_table& table = with->tables().streams;
  const peer_id id = with->id();
  const std::optional<stream_way> way = table.take(id, number);
  if (!way)
    throw error(errc::invalid_argument,
                fmt::format("stream {} with {} is open already, or the last one with that "
                            "number has not ended: await its closed(), or take another number",
                            number, name_of(id)));
  return make(std::move(with), number, *way, table.is_self(id) ? opposite(*way) : *way, window);
}

std::shared_ptr<stream> stream::open_for_object(std::shared_ptr<proto::peer> with,
                                                std::uint32_t number, stream_way way,
                                                std::size_t window) {
  const runtime::engine::holder hold(with->engine());
  if (!with->tables().streams.take(with->id(), number, way))
    throw error(errc::protocol_error,
                fmt::format("two values between this side and {} have the number {}",
                            name_of(with->id()), number));
  return make(std::move(with), number, way, opposite(way), window);
}

/// Its number has been taken.
std::shared_ptr<stream> stream::make(std::shared_ptr<proto::peer> with, std::uint32_t number,
                                     stream_way way, stream_way back, std::size_t window) {
  stream_table& table = with->tables().streams;
  const peer_id id = with->id();
  try {
    auto made = std::make_shared<stream>(std::move(with), number, way, back, window);
    ++made->services_.counts.streams_opened;
    made->reader_.open();
    return made;
  } catch (...) {
    table.give_back(id, number, way);
    throw;
  }
}

void stream::close() noexcept {
  writer_.finish(true);
  reader_.leave();
  settle();
}

void stream::drop() noexcept {
  const auto keep = shared_from_this();
  const runtime::engine::holder hold(engine());
  writer_.finish(false);
  reader_.leave();
  writer_.listen(true);
  settle();
  if (over()) return;
  self_ = keep;
  ++table_.lingering;
}

void stream::settle() noexcept {
  if (!over()) return;
  if (std::exchange(listed_, false)) table_.give_back(with_->id(), number_, way_);
  if (closing_) engine().end(*std::exchange(closing_, nullptr), writer_.verdict());
  if (self_) {
    --table_.lingering;
    self_.reset();  // the caller holds it, too
  }
}

bool stream::start(closed_operation& op) noexcept {
  op.status = op.cancel_requested ? errc::stopped : closing_ ? errc::invalid_argument : errc::ok;
  if (op.status != errc::ok) return true;
  if (writer_.finished()) writer_.listen(true);
  settle();
  if (over()) {
    op.status = writer_.verdict();
    return true;
  }
  closing_ = &op;
  engine().pending(op);
  return false;
}

void stream::cancel(closed_operation& op) noexcept {
  op.cancel_requested = true;
  if (closing_ != &op) return;
  closing_ = nullptr;
  engine().end(op, errc::stopped);
}

std::string stream::explain(errc status, const char* cause) const {
  const std::string which = fmt::format("stream {} with {}", number_, name_of(with_->id()));
  if (status == errc::stopped) return which + ": stopped on request; nothing is lost";
  if (status == errc::invalid_argument)
    return which + ": one thing at a time reads, writes or waits for the end";
  if (cause) return fmt::format("{}: {}", which, cause);
  if (status == errc::closed) return which + ": this end is closed";
  return proto::explain(which + " broke off before its end", status, with_.get(), nullptr, 0);
}

}  // namespace weft::proto

namespace weft {

using runtime::engine;

namespace {

/// Calls `begin` with the progress lock held, unless the operation has no stream.
template <class Operation, class Begin>
bool start_on(Operation& op, Begin begin) noexcept {
  if (!op.stream) {
    op.status = errc::invalid_argument;
    return true;
  }
  const engine::holder hold(op.stream->engine());
  return begin(*op.stream);
}

template <class Operation, class Cancel>
void cancel_on(Operation& op, Cancel cancel) noexcept {
  if (!op.stream) return;
  const auto keep =
      op.stream->shared_from_this();  // the stream may end when it no longer waits for op
  const engine::holder hold(op.stream->engine());
  cancel(*op.stream);
}

}  // namespace

bool stream_read_operation::start() noexcept {
  return start_on(*this, [this](proto::stream& s) { return s.reader().start(*this); });
}
void stream_read_operation::cancel() noexcept {
  cancel_on(*this, [this](proto::stream& s) { s.reader().cancel(*this); });
}
std::string stream_read_operation::explain() const {
  return stream ? stream->explain(status, stream->reader().cause()) : proto::no_stream;
}

std::string stream_exact_operation::explain() const {
  std::string why = stream_read_operation::explain();
  if (stream && status != errc::invalid_argument)
    why += fmt::format("; {} of {} bytes had come", got, least);
  return why;
}

bool stream_write_operation::start() noexcept {
  return start_on(*this, [this](proto::stream& s) { return s.writer().start(*this); });
}
void stream_write_operation::cancel() noexcept {
  cancel_on(*this, [this](proto::stream& s) { s.writer().cancel(*this); });
}
std::string stream_write_operation::explain() const {
  return stream ? stream->explain(status, stream->writer().cause()) : proto::no_stream;
}

bool stream_closed_operation::start() noexcept {
  return start_on(*this, [this](proto::stream& s) { return s.start(*this); });
}
void stream_closed_operation::cancel() noexcept {
  cancel_on(*this, [this](proto::stream& s) { s.cancel(*this); });
}
std::string stream_closed_operation::explain() const {
  return stream ? stream->explain(status, stream->writer().cause()) : proto::no_stream;
}

}  // namespace weft
