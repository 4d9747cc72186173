// SPDX-License-Identifier: Apache-2.0
// asio_loop: a context inside io_context::run.
#pragma once

#include <cstdint>
#include <memory>

#include <weft/embedded_loop.hpp>
#include <weft/interop/detail/asio_turns.hpp>

namespace weft {

/// Runs a context inside the threads that run an io_context: messages move, and coroutines resume,
/// in turns between Asio's handlers. There is no second loop and no further thread.
///
///     weft::context ctx;
///     asio::io_context io;
///     weft::asio_loop loop(ctx, io);
///     weft::spawn(ctx, serve(ctx));   // or weft::async(ctx, serve(ctx), token)
///     io.run();
///
/// While operations are pending, a turn polls for up to 20 microseconds if Asio has nothing else to
/// do, and once between its handlers if it has; a turn with much to do takes as long as Asio's
/// handlers took since the turn before, up to a millisecond. After options::spin without an event
/// the io_context sleeps, and weft's descriptor wakes it. An idle loop uses no processor time
/// (progress mode `polling` never sleeps).
///
/// All turns are in one strand (get_executor()), so the coroutines of the context never run in
/// parallel, also when several threads run the io_context. A coroutine that blocks also blocks the
/// handlers of its thread.
///
/// While the loop exists, io_context::run does not return for lack of work: stop() the loop, or the
/// io_context. Declare the context before the io_context, and that before the loop.
class asio_loop {
 public:
  using executor_type = detail::asio_turns::executor_type;

  /// Any thread.
  /// \throws weft::error as embedded_loop; std::system_error when the kernel refuses to watch the
  ///         descriptor of weft
  asio_loop(context& of, detail::net::io_context& in)
      : turns_(std::make_shared<detail::asio_turns>(of, in)) {
    turns_->begin();
  }
  asio_loop(const asio_loop&) = delete;
  asio_loop& operator=(const asio_loop&) = delete;

  /// As stop(), at once; in a coroutine of the context after the present turn. Either no thread
  /// runs the io_context, or this is in get_executor(). Coroutines go on inside `run`, or when the
  /// context ends.
  ~asio_loop() { turns_->end(); }

  /// Ends the turns after the present one, and with them the loop's work in the io_context. Any
  /// thread, also in a coroutine of the context.
  void stop() { turns_->stop(); }

  /// The strand of the turns: a handler bound to it never runs in parallel with coroutines.
  executor_type get_executor() const noexcept { return turns_->get_executor(); }

  /// How many turns there were: an idle loop makes none. Any thread.
  std::uint64_t turns() const noexcept { return turns_->count(); }

 private:
  const std::shared_ptr<detail::asio_turns> turns_;
};

}  // namespace weft
