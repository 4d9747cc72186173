// SPDX-License-Identifier: Apache-2.0
#include "api/objects/object_pieces.hpp"

#include <utility>

#include "runtime/os/own_thread.hpp"

namespace weft::detail {

namespace {

/// Waits for the end of a thread that uses memory of the coroutine: a stop does not end it.
class end_operation : public callback_operation<bool> {
 public:
  using callback_operation::callback_operation;
  void cancel() const noexcept {}
};
struct end_request : callback_request<bool> {
  using operation_type = end_operation;
};

}  // namespace

object_pieces::object_pieces(executor& home, bool all_to_thread) : home_(home) {
  for (piece& p : pieces_) {
    p.bytes = std::make_unique_for_overwrite<std::byte[]>(object_piece);
    p.of_thread = all_to_thread;
  }
}

object_pieces::~object_pieces() {
  if (thread_.joinable()) thread_.join();
}

void object_pieces::start(std::function<void()> body) {
  thread_ = runtime::start_own_thread("weft-value", "a thread for a long value",
                                      [this, run = std::move(body)] {
                                        std::exception_ptr failure;
                                        try {
                                          run();
                                        } catch (const abandoned&) {
                                          // Its function was ended on purpose.
                                        } catch (...) {
                                          failure = std::current_exception();
                                        }
                                        const std::lock_guard lock(mutex_);
                                        failure_ = std::move(failure);
                                        ended_ = true;
                                        answer();
                                      });
}

/// Answers the coroutine if what it waits for has come. With the mutex.
void object_pieces::answer() noexcept {
  const bool has = !at(awaited_).of_thread;
  if (waiting_ && (has || ended_)) std::exchange(waiting_, nullptr)->deliver(has);
  if (end_ && ended_) std::exchange(end_, nullptr)->deliver(true);
}

task<bool> object_pieces::wait_for(unsigned n) {
  const callback_request<bool> wanted{&home_, [this, n](box b) {
                                        const std::lock_guard lock(mutex_);
                                        awaited_ = n;
                                        waiting_ = std::move(b);
                                        answer();
                                      }};
  const bool has = co_await wanted;
  co_return has;
}

task<void> object_pieces::end() {
  if (!thread_.joinable()) co_return;
  const end_request over{{&home_, [this](box b) {
                            const std::lock_guard lock(mutex_);
                            end_ = std::move(b);
                            answer();
                          }}};
  co_await over;
  thread_.join();
}

void object_pieces::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_one();
}

std::exception_ptr object_pieces::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void object_pieces::to_thread(unsigned n, std::size_t size) {
  const std::lock_guard lock(mutex_);
  at(n).size = size;
  at(n).of_thread = true;
  changed_.notify_one();
}

void object_pieces::await_piece(unsigned n) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return abandoned_ || at(n).of_thread; });
  if (abandoned_) throw abandoned();
}

void object_pieces::to_coroutine(unsigned n, std::size_t size) {
  const std::lock_guard lock(mutex_);
  at(n).size = size;
  at(n).of_thread = false;
  answer();
}

}  // namespace weft::detail
