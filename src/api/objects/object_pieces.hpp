// SPDX-License-Identifier: Apache-2.0
// An object in pieces: the thread that writes or reads it, and the coroutine that moves the pieces.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include <weft/coro/task.hpp>
#include <weft/detail/object_ops.hpp>

#include "api/core/callback_request.hpp"

namespace weft::detail {

/// Bytes of an object that travel at once. An object of no more than that is one message.
inline constexpr std::size_t object_piece = std::size_t{256} << 10;

/// Two pieces that a thread and a coroutine pass to each other in turn. The thread blocks; the
/// coroutine, and with it the thread inside run(), does not. Made and destroyed by the coroutine.
class object_pieces {
 public:
  /// The exception that ends the thread's function.
  struct abandoned {};

  /// \param home resumes the coroutine when its chain names no other executor
  /// \param all_to_thread whether the thread has both pieces at first
  /// \throws std::bad_alloc
  object_pieces(executor& home, bool all_to_thread);
  object_pieces(const object_pieces&) = delete;
  object_pieces& operator=(const object_pieces&) = delete;
  ~object_pieces();  ///< after `end`, or if there is no thread

  // --- the coroutine ----------------------------------------------------------------------------

  /// Starts the thread. \param body its exception is the result of `failure`
  /// \throws weft::error (system)
  void start(std::function<void()> body);
  /// Waits for piece `n`. \return false: the thread has it and has ended
  task<bool> wait_for(unsigned n);
  mutable_buffer memory(unsigned n) noexcept { return {at(n).bytes.get(), object_piece}; }
  const_buffer filled(unsigned n) const noexcept { return {at(n).bytes.get(), at(n).size}; }
  void to_thread(unsigned n, std::size_t size = 0);
  /// The thread waits for no more pieces: it ends when its function next asks for one.
  void abandon();
  /// Waits for the end of the thread; cannot be stopped.
  task<void> end();
  /// After the end of the thread; while it runs, null.
  std::exception_ptr failure();

  // --- the thread -------------------------------------------------------------------------------

  /// Waits for piece `n`. \throws abandoned
  void await_piece(unsigned n);
  void to_coroutine(unsigned n, std::size_t size = 0);

 private:
  using box = std::shared_ptr<oneshot<bool>>;
  struct piece {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size = 0;
    bool of_thread = false;
  };

  piece& at(unsigned n) noexcept { return pieces_[n % 2]; }
  const piece& at(unsigned n) const noexcept { return pieces_[n % 2]; }
  void answer() noexcept;

  executor& home_;
  std::thread thread_;
  std::mutex mutex_;  // guards what follows; the bytes of a piece belong to the side that has it
  std::condition_variable changed_;
  std::array<piece, 2> pieces_;
  bool abandoned_ = false;
  bool ended_ = false;
  std::exception_ptr failure_;
  unsigned awaited_ = 0;  // the piece that the coroutine waits for, if `waiting_`
  box waiting_;
  box end_;
};

}  // namespace weft::detail
