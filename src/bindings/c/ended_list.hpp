// SPDX-License-Identifier: Apache-2.0
// Operations that have ended and that their callers have not been told of.
#pragma once

#include <cstdint>

namespace weft::c {

/// The beginning of every weft_op. Under external_loop::progress_guard once it is in flight.
struct op_head {
  enum class kind : std::uint8_t {
    none,
    send,
    recv,
    claimed,
    probe,
    transfer,
    update,
    notified,
    chain
  };
  enum class stage : std::uint8_t { in_flight, ended, told };

  op_head* before = nullptr;
  op_head* after = nullptr;
  void* user = nullptr;
  kind what = kind::none;  ///< none: zeroed memory, in which no operation was posted
  stage now = stage::in_flight;
  bool waited = false;  ///< a thread waits for it in weft_wait, and will be told
  bool listed = false;
};

/// In the order of their ends; weft_test and weft_wait take operations out of the middle.
class ended_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  int size() const noexcept { return size_; }

  void push(op_head& op) noexcept {
    op.listed = true;
    op.before = last_;
    op.after = nullptr;
    (last_ ? last_->after : first_) = &op;
    last_ = &op;
    ++size_;
  }

  void remove(op_head& op) noexcept {
    op.listed = false;
    (op.before ? op.before->after : first_) = op.after;
    (op.after ? op.after->before : last_) = op.before;
    --size_;
  }

  /// Takes the first operation out; null: there is none.
  op_head* pop() noexcept {
    op_head* const op = first_;
    if (op) remove(*op);
    return op;
  }

 private:
  op_head* first_ = nullptr;
  op_head* last_ = nullptr;
  int size_ = 0;
};

}  // namespace weft::c
