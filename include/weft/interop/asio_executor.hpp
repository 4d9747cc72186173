// SPDX-License-Identifier: Apache-2.0
// asio_executor: an executor of Asio as an executor of weft.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <new>
#include <utility>

#include <weft/coro/resume_on.hpp>
#include <weft/interop/detail/asio_library.hpp>

namespace weft {

/// For `resume_on`: the chain continues on the threads of an Asio executor.
///
///     weft::asio_executor on(io.get_executor());   // or a strand, a thread_pool's executor
///     co_await weft::resume_on(on);
///
/// `post` may be called from any thread. Work that was posted before Asio came to it runs in one
/// handler. With the executors of io_context and thread_pool a post allocates nothing.
///
/// Must outlive its work, and the execution context must run it: a chain that was posted to an
/// io_context that never runs again does not continue, and delays the end of its context.
template <class Executor>
class asio_executor final : public executor {
 public:
  explicit asio_executor(Executor on) : on_(std::move(on)) {}
  asio_executor(const asio_executor&) = delete;
  asio_executor& operator=(const asio_executor&) = delete;

  void post(operation& work) noexcept override {
    {
      const std::lock_guard lock(mutex_);
      queue_.push(work);
      if (std::exchange(posted_, true)) return;
    }
    // The work may end the execution context, but not before this thread has left it; and this
    // object.
    const Executor on = on_;
    const auto inside = detail::net::make_work_guard(on);
    detail::net::post(on, run_queue(*this));
  }

  const Executor& get_executor() const noexcept { return on_; }

 private:
  /// Gives out the memory of the one handler that is posted, which Asio frees before the handler
  /// runs. A strand allocates a second piece.
  template <class T>
  class handler_memory {
   public:
    using value_type = T;
    explicit handler_memory(asio_executor& of) noexcept : of_(&of) {}
    template <class U>
    handler_memory(const handler_memory<U>& other) noexcept : of_(other.of_) {}  // NOLINT: rebinds

    T* allocate(std::size_t n) {
      if (n * sizeof(T) <= sizeof(of_->memory_) && alignof(T) <= alignof(std::max_align_t) &&
          !of_->memory_taken_.exchange(true, std::memory_order_acquire))
        return reinterpret_cast<T*>(of_->memory_);
      return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t(alignof(T))));
    }
    void deallocate(T* p, std::size_t) noexcept {
      if (reinterpret_cast<std::byte*>(p) == of_->memory_)
        of_->memory_taken_.store(false, std::memory_order_release);
      else
        ::operator delete(p, std::align_val_t(alignof(T)));
    }
    bool operator==(const handler_memory&) const noexcept = default;

   private:
    template <class U>
    friend class handler_memory;
    asio_executor* of_;
  };

  class run_queue {
   public:
    using allocator_type = handler_memory<std::byte>;
    explicit run_queue(asio_executor& of) noexcept : of_(&of) {}
    allocator_type get_allocator() const noexcept { return allocator_type(*of_); }
    void operator()() const noexcept {
      operation_list batch;
      {
        const std::lock_guard lock(of_->mutex_);
        batch = of_->queue_.take();
        of_->posted_ = false;
      }
      while (operation* op = batch.pop()) op->complete();
    }

   private:
    asio_executor* of_;
  };

  const Executor on_;
  std::mutex mutex_;  // guards the next two
  operation_list queue_;
  bool posted_ = false;
  std::atomic<bool> memory_taken_{false};
  alignas(std::max_align_t) std::byte memory_[256];
};

}  // namespace weft
