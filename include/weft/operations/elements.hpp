// SPDX-License-Identifier: Apache-2.0
// What accesses to elements of a remote_region_of<T> return, and the operations that are made of
// it, with the functions that weft/operations/messages.hpp tells of. A single element is held by
// the operation, so that the caller needs no memory for it.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include <weft/detail/value_bytes.hpp>
#include <weft/operations/access.hpp>

namespace weft {

template <class T>
class typed_update_operation;

/// What `fetch_add` and `compare_swap` of a `remote_region_of<T>` return; yields the former word.
template <class T>
struct [[nodiscard]] typed_update_request {
  using value_type = T;
  using operation_type = typed_update_operation<T>;
  update_request word;
};

template <class T>
class typed_update_operation : public update_operation {
 public:
  typed_update_operation(const typed_update_request<T>& r, complete_fn f) noexcept
      : update_operation(r.word, f) {}
  T take() const noexcept { return static_cast<T>(update_operation::take()); }
};

template <class T>
class value_put_operation;

/// What `put` of one element returns: it holds the element.
template <class T>
struct [[nodiscard]] value_put_request {
  using value_type = void;
  using operation_type = value_put_operation<T>;
  transfer_request transfer;
  T value;
};

template <class T>
class value_put_operation : public transfer_operation {
 public:
  value_put_operation(const value_put_request<T>& r, complete_fn f) noexcept
      : transfer_operation(from(r.transfer, detail::bytes_of_value(value_)), f), value_(r.value) {}

 private:
  static transfer_request from(transfer_request r, const_buffer data) noexcept {
    r.order.data = data;
    return r;
  }
  T value_;
};

template <class T>
class value_get_operation;

/// What `get` and `load` of one element return; yields the element.
template <class T>
struct [[nodiscard]] value_get_request {
  using value_type = T;
  using operation_type = value_get_operation<T>;
  transfer_request transfer;
};

template <class T>
class value_get_operation : public transfer_operation {
 public:
  value_get_operation(const value_get_request<T>& r, complete_fn f) noexcept
      : transfer_operation(into(r.transfer, mutable_buffer(memory_)), f) {}
  T take() const noexcept { return *std::launder(reinterpret_cast<const T*>(memory_)); }

 private:
  static transfer_request into(transfer_request r, mutable_buffer memory) noexcept {
    r.order.into = memory;
    return r;
  }
  alignas(T) std::byte memory_[sizeof(T)];
};

}  // namespace weft
