// SPDX-License-Identifier: Apache-2.0
#include "bindings/c/chain.hpp"

#include <memory>
#include <new>

#include <weft/coro/detail/detached_task.hpp>

#include "bindings/c/operation.hpp"

namespace weft::c {

/// A coroutine and all that it needs, from the posting call to its end. It runs on the threads that
/// make calls: where a progress_guard ends, so without the progress lock. A collective runs on the
/// progress thread as well, but ends on such a thread. Frees itself.
class chain final : detail::detached_task_owner {
 public:
  chain(weft_context& of, chain_op& op) noexcept : owner_(of), op_(op) {}

  chain_result result;

  void run(task<void> x) noexcept {
    const detail::home here = detail::home_of(detail::core_of(owner_.ctx));
    const task_environment start{&here.runs, stop_.get_token(), &here.times};
    try {
      detail::start_detached(*this, start, std::move(x), [] {});
    } catch (...) {
      task_ended(std::current_exception());
    }
  }
  std::stop_source stop_source() const { return stop_; }

 private:
  void task_ended(std::exception_ptr failure) noexcept override {
    const std::unique_ptr<chain> self(this);
    errc status = errc::ok;
    std::string text;
    if (failure)
      status = static_cast<errc>(-guarded([&] { std::rethrow_exception(failure); },
                                          [&text](errc e, const char* why) {
                                            try {
                                              text = why;
                                            } catch (const std::bad_alloc&) {
                                              // The code tells most of it.
                                            }
                                            return code_of(e);
                                          }));
    failure = nullptr;
    if (owner_.closing) return;
    const external_loop::progress_guard hold(owner_.external_loop);
    op_.runs = nullptr;
    op_.status = status;
    op_.size = result.size;
    copy_text(text, op_.text.data(), op_.text.size());
    op_.now = op_head::stage::ended;
    if (!op_.waited) owner_.ended.push(op_);
  }

  weft_context& owner_;
  chain_op& op_;
  std::stop_source stop_;
};

int chain_op::post(weft_op* memory, weft_context& of, void* u,
                   task<void> (*make)(void*, chain_result&), void* with, bool ours) noexcept {
  static_assert(sizeof(chain_op) <= sizeof(weft_op) && alignof(chain_op) <= alignof(weft_op));
  static_assert(std::is_trivially_destructible_v<chain_op>);
  chain_op& op = *::new (static_cast<void*>(memory)) chain_op(of, u);
  op.waited = true;  // nothing else reports it before this call has looked
  std::string why;
  const int made = guarded(of, [&] {
    auto runs = std::make_unique<chain>(of, op);
    task<void> x = make(with, runs->result);
    op.runs = runs.get();
    const external_loop::call here(of.external_loop);
    runs.release()->run(std::move(x));
  });
  if (made != WEFT_OK) {
    op.now = stage::told;
    op.status = static_cast<errc>(-made);
    weft_last_error(&of, op.text.data(), op.text.size());
    return made;
  }
  const external_loop::progress_guard hold(of.external_loop);
  op.waited = ours;
  if (op.now == stage::in_flight) return WEFT_OK;
  op.now = stage::told;
  return op.status == errc::ok ? WEFT_DONE : code_of(op.status);
}

/// The stop runs code of weft that takes the progress lock.
void chain_op::cancel() noexcept {
  std::stop_source stop{std::nostopstate};
  {
    const external_loop::progress_guard hold(owner.external_loop);
    if (runs) stop = runs->stop_source();
  }
  const external_loop::call here(owner.external_loop);
  stop.request_stop();
}

}  // namespace weft::c
