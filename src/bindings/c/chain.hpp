// SPDX-License-Identifier: Apache-2.0
// Operations that are coroutines inside: calls, replies and collectives.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>

#include <weft/coro/task.hpp>

#include "bindings/c/ended_list.hpp"

struct weft_context;
struct weft_op;

namespace weft::c {

/// What a coroutine tells weft_completion when it ends well.
struct chain_result {
  std::size_t size = 0;
};

class chain;

/// The content of the weft_op of a coroutine. The coroutine has memory of its own, `runs`, until
/// its end; what is asked for afterwards is here. Under external_loop::progress_guard while in
/// flight.
class chain_op final : public op_head {
 public:
  explicit chain_op(weft_context& of, void* u) noexcept : owner(of) {
    user = u;
    what = kind::chain;
  }

  /// Starts the coroutine that `make(chain_result&)` returns, on this thread. \return as weft_send
  /// \param ours weft_wait follows, and weft_poll of another thread must not report the operation
  ///   before
  template <class Make>
  static int post(weft_op* memory, weft_context& of, void* u, Make make,
                  bool ours = false) noexcept;

  /// Asks the coroutine to stop. Not under a progress_guard.
  void cancel() noexcept;
  std::string explain() const { return text.data(); }

  weft_context& owner;
  errc status = errc::ok;
  std::size_t size = 0;
  chain* runs = nullptr;
  std::array<char, 152> text{};  ///< cause and cure of a failure, cut

 private:
  static int post(weft_op* memory, weft_context& of, void* u,
                  task<void> (*make)(void*, chain_result&), void* with, bool ours) noexcept;
};

template <class Make>
int chain_op::post(weft_op* memory, weft_context& of, void* u, Make make, bool ours) noexcept {
  return post(
      memory, of, u, [](void* m, chain_result& r) { return (*static_cast<Make*>(m))(r); }, &make,
      ours);
}

}  // namespace weft::c
