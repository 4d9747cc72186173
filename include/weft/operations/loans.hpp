// SPDX-License-Identifier: Apache-2.0
// What send_loan and recv_loan return, and the operations that are made of it, with the functions
// that weft/operations/messages.hpp tells of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <weft/detail/loan_state.hpp>
#include <weft/detail/value_ops.hpp>

namespace weft {

template <class T>
class lent;

class loan_send_operation;

/// What `endpoint::send_loan` returns: it has the loan, which is given back if it is never awaited.
struct [[nodiscard]] loan_send_request {
  using value_type = void;
  using operation_type = loan_send_operation;
  detail::peer_name to;
  weft::tag tag;
  std::uint64_t immediate;
  mutable detail::loan_memory loan;  ///< the operation that is made of the request takes it
};

/// A send of a loan in flight. Ends when the message is on its way; from then on the receiver
/// decides when the memory goes back to the pool.
class loan_send_operation : public operation {
 public:
  loan_send_operation(const loan_send_request& r, complete_fn f) noexcept
      : operation(f), to_(r.to), tag_(r.tag), immediate_(r.immediate), loan_(std::move(r.loan)) {}
  bool start() noexcept;
  bool start_held() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  std::string explain() const;

  /// The message is on its way, or will never be. Progress lock held.
  void handed_over(errc how) noexcept;

 private:
  const detail::peer_name to_;
  const weft::tag tag_;
  const std::uint64_t immediate_;
  detail::loan_memory loan_;
  proto::loan_message* message_ = nullptr;  // while it waits for its turn
  bool starting_ = false;
  bool cancel_requested_ = false;
};

namespace detail {

/// A receive that takes the message where it lies, if it is a loan that this process can read;
/// else into memory that it makes.
class loan_recv_operation : public sized_recv_operation {
 public:
  loan_recv_operation(const recv_request& r, std::size_t element, at_most limit,
                      complete_fn f) noexcept
      : sized_recv_operation(r, {this, &make, element, limit}, f), element_(element) {
    view = &memory_;
  }

 protected:
  lent_memory memory_;

 private:
  static bool make(void* self, std::size_t count, mutable_buffer& bytes) noexcept {
    auto& op = *static_cast<loan_recv_operation*>(self);
    bytes = op.memory_.make(count * op.element_);
    return count == 0 || !bytes.empty();
  }

  const std::size_t element_;
};

}  // namespace detail

template <class T>
class lent_recv_operation;

/// What `recv_loan<T>` returns.
template <class T>
struct [[nodiscard]] lent_recv_request {
  using value_type = lent<T>;
  using operation_type = lent_recv_operation<T>;
  recv_request message;
  at_most limit;
};

/// Its operation.
template <class T>
class lent_recv_operation : public detail::loan_recv_operation {
 public:
  lent_recv_operation(const lent_recv_request<T>& r, complete_fn f) noexcept
      : detail::loan_recv_operation(r.message, sizeof(T), r.limit, f) {}

  lent<T> take() noexcept { return lent<T>(std::move(memory_), got); }
};

}  // namespace weft
