// SPDX-License-Identifier: Apache-2.0
// Receiving an object; object_send.cpp has a drawing of the exchange.
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include <weft/coro/as_result.hpp>
#include <weft/error.hpp>
#include <weft/operations/values.hpp>

#include "api/core/core.hpp"
#include "api/objects/object_stream.hpp"
#include "proto/messenger/message_errors.hpp"

namespace weft::detail {

namespace {

// --- the first message ---------------------------------------------------------------------------

/// The message, and facts about it also when its receive failed.
struct first_message {
  std::vector<std::byte> bytes;
  received about;
};

class first_operation;

struct first_request {
  using value_type = void;
  using operation_type = first_operation;
  recv_request message;
  at_most limit;
  first_message* into;
};

class first_operation : public sized_recv_operation {
 public:
  first_operation(const first_request& r, complete_fn f)
      : sized_recv_operation(r.message,
                             {&r.into->bytes,
                              &resize_elements<std::vector<std::byte>>,
                              1,
                              {std::min(r.limit.bytes, object_piece)}},
                             f),
        into_(r.into),
        limit_(r.limit) {}
  ~first_operation() { into_->about = got; }
  void take() const noexcept {}
  std::string explain() const {
    if (status != errc::truncated || limit_.bytes < object_piece)
      return sized_recv_operation::explain();
    return fmt::format(
        "a message of {} bytes from {} is no value of wire<T>, of which a message "
        "has at most {}; both sides must name the same type",
        got.size, proto::name_of(got.source), object_piece);
  }

 private:
  first_message* const into_;
  const at_most limit_;
};

// --- reading -------------------------------------------------------------------------------------

class whole_source final : public source {
 public:
  explicit whole_source(const_buffer all) noexcept : all_(all) {}

 private:
  const_buffer next_bytes() override { return std::exchange(all_, {}); }
  const_buffer all_;
};

/// The first piece, and those that the coroutine passes on.
class pieces_source final : public source {
 public:
  pieces_source(const_buffer first, object_pieces& rest) noexcept : first_(first), rest_(rest) {}

 private:
  const_buffer next_bytes() override {
    if (!first_.empty()) return std::exchange(first_, {});
    if (ended_) return {};
    if (begun_ != 0) rest_.to_coroutine(begun_ - 1);
    rest_.await_piece(begun_);
    const const_buffer piece = rest_.filled(begun_++);
    ended_ = piece.empty();
    return piece;
  }

  const_buffer first_;
  object_pieces& rest_;
  unsigned begun_ = 0;
  bool ended_ = false;
};

void check_all_read(std::uint64_t total, std::uint64_t read) {
  if (total <= read) return;
  throw error(errc::protocol_error,
              fmt::format("{} bytes are left over after a value of {} bytes; both sides must name "
                          "the same type",
                          total - read, read));
}

// --- the rest, from the stream -------------------------------------------------------------------

/// Fills the memory, or up to the end. \return the number of bytes
task<std::size_t> read_piece(proto::stream& from, mutable_buffer into) {
  std::size_t n = 0;
  while (n != into.size()) {
    const stream_read_request some{&from, into.subspan(n)};
    const std::size_t more = co_await some;
    if (more == 0) break;
    n += more;
  }
  co_return n;
}

/// Passes pieces to the thread, up to the end of the stream or of the thread. An empty piece tells
/// the thread that the object has ended. \param total bytes so far, and afterwards
task<void> receive_pieces(object_pieces& pieces, proto::stream& from, at_most limit,
                          std::uint64_t& total) {
  bool ended = false;
  for (unsigned n = 0;; ++n) {
    const bool has = co_await pieces.wait_for(n);
    if (!has || pieces.failure()) co_return;
    std::size_t size = 0;
    if (!ended) size = co_await read_piece(from, pieces.memory(n));
    total += size;
    if (total > limit.bytes)
      throw error(errc::truncated,
                  fmt::format("a value is longer than this receive accepts, {} bytes; pass a "
                              "larger at_most",
                              limit.bytes));
    pieces.to_thread(n, size);
    if (size == 0) co_return;
    ended = size < object_piece;
  }
}

/// If the sender let go of the stream, the reader has a cause; otherwise the peer itself is lost.
std::exception_ptr reworded(const error& e, proto::stream& by, std::uint64_t total) {
  bool let_go;
  {
    const runtime::engine::holder hold(by.engine());
    let_go = by.reader().cause() != nullptr;
  }
  if (e.kind() != errc::peer_lost || !let_go) return std::make_exception_ptr(e);
  return std::make_exception_ptr(
      error(errc::protocol_error,
            fmt::format("a value from {} broke off after {} bytes: its send was stopped, or failed",
                        proto::name_of(by.with().id()), total)));
}

/// Reads the object on a thread. \return bytes of the object
task<std::uint64_t> receive_rest(proto::peer& from, object_stream& rest, const_buffer first,
                                 object_reader what, at_most limit) {
  std::uint64_t total = first.size(), read = 0;
  std::exception_ptr failure;
  object_pieces pieces(from.engine(), false);
  pieces.start([&pieces, &read, first, what] {
    pieces_source bytes(first, pieces);
    what.get(bytes, what.result);
    read = bytes.bytes_read();
  });
  try {
    co_await receive_pieces(pieces, *rest.get(), limit, total);
  } catch (const error& e) {
    failure = reworded(e, *rest.get(), total);
  } catch (...) {
    failure = std::current_exception();
  }
  if (failure) pieces.abandon();
  co_await pieces.end();
  if (!failure) failure = pieces.failure();
  if (failure) std::rethrow_exception(failure);
  check_all_read(total, read);
  co_return total;
}

std::shared_ptr<proto::peer> sender_of(const received& about, const recv_request& r) {
  proto::peer_registry& peers = r.messenger ? r.messenger->peers() : r.from.peer->tables().peers;
  return peers.at(about.source);
}

}  // namespace

task<received> recv_object(endpoint from, recv_request message, object_reader what, at_most limit) {
  static_cast<void>(from);  // kept until the end
  first_message first;
  std::exception_ptr failure;
  try {
    const first_request begin{message, limit, &first};
    co_await begin;
  } catch (...) {
    failure = std::current_exception();
  }
  received about = first.about;
  const auto number = about.source == no_peer ? std::nullopt : stream_after(about);
  if (number) {
    // Made also after a failure, and dropped: its sender must learn that no more is wanted.
    const std::shared_ptr<proto::peer> sender = sender_of(about, message);
    object_stream rest(sender, *number, proto::stream_way::object_back,
                       proto::stream_pieces * object_piece);
    if (failure) std::rethrow_exception(failure);
    about.size = std::size_t(co_await receive_rest(*sender, rest, first.bytes, what, limit));
    // The object is complete, whatever becomes of the sender now.
    static_cast<void>(co_await as_result(rest.finish()));
  } else {
    if (failure) std::rethrow_exception(failure);
    whole_source bytes(first.bytes);
    what.get(bytes, what.result);
    check_all_read(first.bytes.size(), bytes.bytes_read());
  }
  about.immediate = 0;
  co_return about;
}

}  // namespace weft::detail
