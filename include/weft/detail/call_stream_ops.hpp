// SPDX-License-Identifier: Apache-2.0
// The side that calls for a stream of values. Applications do not name these types.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include <weft/coro/async_generator.hpp>
#include <weft/operations/calls.hpp>

namespace weft::proto {
class value_stream;
}

namespace weft::detail {

class next_item_operation;

struct [[nodiscard]] next_item_request {
  using value_type = bool;
  using operation_type = next_item_operation;
  proto::value_stream* of;
};

/// Ends when a value has come, or the last one was taken. The first one starts the call.
class next_item_operation : public operation {
 public:
  next_item_operation(const next_item_request& r, complete_fn f) noexcept
      : operation(f), of_(*r.of) {}
  bool start() noexcept;
  void cancel() noexcept;
  bool take() const noexcept { return has_item; }
  std::string explain() const;
  void heed_deadline(const task_environment& chain) noexcept { environment = &chain; }

  // Progress lock held, while in flight.
  bool has_item = false;
  bool cancel_requested = false;
  const task_environment* environment = nullptr;  ///< valid until the start

 private:
  proto::value_stream& of_;
};

/// Owns a call for a stream of values: when it is destroyed the call is stopped, and values that
/// nothing has taken are dropped. Belongs to the generator.
class item_source {
 public:
  /// \throws std::bad_alloc
  item_source(peer_name to, std::shared_ptr<proto::peer> keep, am number, call_bytes args,
              const call_signature* types = nullptr);
  item_source(item_source&&) noexcept = default;
  item_source& operator=(item_source&&) = delete;
  ~item_source();

  next_item_request next() const noexcept { return {state_.get()}; }
  /// Of the value that has come.
  std::uint64_t size() const noexcept;
  claimed_request recv(const buffer_list<mutable_buffer>& into) const noexcept;
  /// The type of the values does not take the one that has come. \param room bytes that it takes
  /// \throws weft::error
  [[noreturn]] void refuse(errc why, std::size_t room) const;

 private:
  std::shared_ptr<proto::value_stream> state_;
};

template <class T>
async_generator<T> values_from(item_source from) {
  const item_source items = std::move(from);  // a parameter would live as long as the generator
  for (;;) {
    const bool more = co_await items.next();
    if (!more) co_return;
    reply_box<T> box;
    buffer_list<mutable_buffer> into = mutable_buffer();
    const errc fits = box.make_room(items.size(), {}, into);
    if (fits != errc::ok) items.refuse(fits, into.size());
    co_await items.recv(into);
    T value = box.take();
    co_yield std::move(value);
  }
}

}  // namespace weft::detail
