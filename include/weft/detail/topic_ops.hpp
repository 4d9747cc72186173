// SPDX-License-Identifier: Apache-2.0
// Topics, without the types of their values. Applications do not name these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/detail/call_bytes.hpp>
#include <weft/detail/call_codec.hpp>
#include <weft/detail/value_signature.hpp>
#include <weft/loan.hpp>
#include <weft/topic_info.hpp>

namespace weft {

namespace detail {

class topic_source;
class subscription;

template <class T>
constexpr type_name name_value() noexcept {
  type_name name;
  add_name<T>(name);
  return name;
}
/// The name of a type of values, which both sides compare.
template <class T>
inline constexpr type_name name_of_value = name_value<T>();

/// The bytes of one value, shared by the subscribers that have not got it.
struct published {
  loan_memory lent;   ///< of a long value, if there was room
  call_bytes copied;  ///< else
  std::uint64_t sequence = 0;

  const_buffer bytes() const noexcept {
    return lent.block() ? const_buffer(lent.bytes()) : copied.bytes();
  }
  mutable_buffer room() noexcept {
    return lent.block() ? lent.bytes() : mutable_buffer(copied.data(), copied.bytes().size());
  }
};
using topic_handle = std::shared_ptr<topic_source>;

/// \throws weft::error (invalid_argument); std::bad_alloc
topic_handle open_topic(context& of, std::string name, const type_name& type, std::uint32_t history,
                        bool may_be_blocked);
/// Memory for a value, to be filled. \throws std::bad_alloc
std::shared_ptr<published> make_published(const topic_handle& of, std::size_t size);
/// \param one whether it must have one element \throws weft::error (invalid_argument)
std::shared_ptr<published> publish_loan(const topic_handle& of, loan_memory filled,
                                        std::size_t elements, bool one);
template <class T>
std::shared_ptr<published> published_loan(const topic_handle& of, loan<T> filled, bool one) {
  const std::size_t elements = filled.size();
  return publish_loan(of, memory_of(std::move(filled)), elements, one);
}
/// \return its sequence number
task<std::uint64_t> publish(topic_handle to, std::shared_ptr<published> value);
/// \return 0: a subscriber blocks, or the topic is closed
std::uint64_t try_publish(const topic_handle& to, const std::shared_ptr<published>& value);
void close_topic(const topic_handle& of) noexcept;
task<void> wait_for_subscribers(topic_handle of);
topic_info info_of(const topic_handle& of);

/// One value that has come.
struct arrival {
  lent<std::byte> bytes;
  std::uint64_t missed = 0;
};
using subscription_handle = std::shared_ptr<subscription>;

/// \param publishers none: those of the job that have the topic
/// \throws weft::error (invalid_argument); std::bad_alloc
subscription_handle subscribe(context& of, std::vector<endpoint> publishers, std::string name,
                              const type_name& type, const subscription_options& how);
task<std::optional<arrival>> next_arrival(subscription_handle of);
std::optional<arrival> try_next_arrival(const subscription_handle& of);
void close_subscription(const subscription_handle& of) noexcept;
subscription_counts counts_of(const subscription_handle& of) noexcept;

/// \throws weft::error (protocol_error) for bytes that are no T. \param unit bytes of an element
[[noreturn]] void value_does_not_fit(const arrival& what, std::size_t unit);

}  // namespace detail
}  // namespace weft
