// SPDX-License-Identifier: Apache-2.0
// Sending an object.
//
//   SENDER                                      RECEIVER
//   the first piece, with the stream's number --> matched: opens the stream
//   put, on a thread; two pieces in turn ------> ... get, on a thread; two pieces in turn
//   finish                               ------> the end; get has returned
//
// The stream keeps the sender at most a window ahead of the receiver, and the send ends when the
// receiver has read the end. A receiver that closes the stream before needs no more: the send ends
// well, as that of a message whose receive was stopped.
#include <algorithm>
#include <exception>
#include <optional>
#include <vector>

#include <weft/coro/as_result.hpp>
#include <weft/error.hpp>

#include "api/core/core.hpp"
#include "api/objects/object_stream.hpp"

namespace weft::detail {

namespace {

/// Takes an object up to one piece.
class first_piece_sink final : public sink {
 public:
  /// \return whether the whole object fits
  bool takes(const object_writer& what) {
    try {
      what.put(*this, what.object);
    } catch (const full&) {
      // The rest is not wanted yet.
    }
    return !overflowed_;
  }
  const_buffer bytes() const noexcept { return {memory_.data(), std::size_t(written())}; }

 private:
  struct full {};

  mutable_buffer next_room() override {
    const std::size_t used = memory_.size();
    overflowed_ = used == object_piece;
    if (overflowed_) throw full();
    memory_.resize(std::clamp<std::size_t>(used * 2, 512, object_piece));
    return mutable_buffer(memory_).subspan(used);
  }

  std::vector<std::byte> memory_;
  bool overflowed_ = false;
};

/// Passes on all pieces but the first one, which has left.
class later_pieces_sink final : public sink {
 public:
  explicit later_pieces_sink(object_pieces& to) noexcept : to_(to) {}

  /// After the last byte.
  void finish() {
    if (begun_ > 1) to_.to_coroutine(begun_ - 1, object_piece - room_left());
  }

 private:
  mutable_buffer next_room() override {
    if (begun_ > 1) to_.to_coroutine(begun_ - 1, object_piece);
    if (begun_ != 0) to_.await_piece(begun_);
    return to_.memory(begun_++);
  }

  object_pieces& to_;
  unsigned begun_ = 0;  // pieces, the first one included
};

/// Writes the pieces that the thread passes on, until it has ended.
task<void> send_pieces(object_pieces& pieces, proto::stream& to) {
  for (unsigned n = 1;; ++n) {
    const bool has = co_await pieces.wait_for(n);
    if (!has) co_return;
    const stream_write_request piece{&to, pieces.filled(n)};
    co_await piece;
    pieces.to_thread(n);
  }
}

std::uint32_t next_number(const proto::peer& to) {
  const runtime::engine::holder hold(to.engine());
  return ++to.tables().streams.last_object;
}

/// The receiver has the first piece, and there is no memory to send more: what it reads then is a
/// stream that was dropped.
task<void> break_off(proto::peer& to, std::uint32_t number) {
  const tag of_stream{proto::stream_data_tag(number, proto::stream_way::object_forth)};
  const send_request end{&to, of_stream, const_buffer{}, send_mode::standard,
                         proto::stream_dropped};
  co_await end;
}

/// The pieces after the first one.
task<void> send_rest(proto::peer& to, std::uint32_t number, object_writer what,
                     std::optional<object_stream>& by) {
  std::exception_ptr failure;
  by.emplace(to.shared_from_this(), number, proto::stream_way::object_forth,
             proto::smallest_stream_window);
  object_pieces pieces(to.engine(), true);
  pieces.start([&pieces, what] {
    later_pieces_sink later(pieces);
    what.put(later, what.object);
    later.finish();
  });
  try {
    co_await send_pieces(pieces, *by->get());
  } catch (const error& e) {
    if (e.kind() != errc::closed) failure = std::current_exception();
  } catch (...) {
    failure = std::current_exception();
  }
  pieces.abandon();
  co_await pieces.end();
  if (!failure) failure = pieces.failure();
  if (failure) std::rethrow_exception(failure);
  const result<void> end = co_await as_result(by->finish());
  if (!end && end.code() != errc::closed) throw end.failure();
}

}  // namespace

task<void> send_object(endpoint to, tag t, object_writer what) {
  first_piece_sink first;
  if (first.takes(what)) {
    co_await to.send(first.bytes(), t);
    co_return;
  }
  proto::peer& peer = internals::named_peer(to);
  const std::uint32_t number = next_number(peer);
  // It ends when the receiver has it, so that a thread begins only where a receive waits.
  co_await to.send_synchronous(first.bytes(), t, object_mark | number);
  std::optional<object_stream> rest;
  std::exception_ptr failure;
  try {
    co_await send_rest(peer, number, what, rest);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure && !rest) co_await break_off(peer, number);
  if (failure) std::rethrow_exception(failure);
}

}  // namespace weft::detail
