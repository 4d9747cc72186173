// SPDX-License-Identifier: Apache-2.0
// sample: one value of a topic, as a subscriber gets it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <weft/detail/stream_values.hpp>
#include <weft/detail/topic_ops.hpp>

namespace weft {
namespace detail {

/// How a value is read where it lies.
template <class T>
struct sample_view {
  using type = const T&;
};
template <class T>
  requires(kind_of<T> == value_kind::elements)
struct sample_view<T> {
  using type = std::span<const element_t<T>>;
};
template <class C, class Traits, class A>
  requires(kind_of<std::basic_string<C, Traits, A>> == value_kind::elements)
struct sample_view<std::basic_string<C, Traits, A>> {
  using type = std::basic_string_view<C, Traits>;
};

/// What a loan of such a value has.
template <class T>
struct sample_element {
  using type = T;
};
template <class T>
  requires(kind_of<T> == value_kind::elements)
struct sample_element<T> {
  using type = element_t<T>;
};

/// Nothing is kept of a value that is read where it lies.
template <class T, bool = kind_of<T> == value_kind::object>
struct sample_object {};
template <class T>
struct sample_object<T, true> {
  explicit sample_object(T v) : value(std::move(v)) {}
  T value;
};

template <class T>
constexpr void require_sample() noexcept {
  require_value<T>();
  static_assert(std::is_same_v<T, std::remove_cvref_t<T>>, "a topic of values, not of references");
  static_assert(std::is_same_v<stored_t<T>, T>,
                "a subscriber needs memory for the value: name a vector or a string");
  if constexpr (kind_of<T> != value_kind::object)
    static_assert(alignof(typename sample_element<T>::type) <= loan_alignment,
                  "a value of a topic is aligned to 64 bytes");
}

}  // namespace detail

/// One value. A trivially copyable T, and the elements of a vector or a string, are read where they
/// lie: on the publisher's host in its memory, and what <weft/loan.hpp> says of views holds. Any
/// other T is made from its bytes. The end of this object gives the memory back; while it lives,
/// the publisher's loan pool has less room. Move-only, one thread at a time. \tparam T of the topic
template <class T>
class sample : private detail::sample_object<T> {
  static constexpr detail::value_kind kind = detail::kind_of<T>;

 public:
  /// \throws weft::error (protocol_error) for bytes that are no T; what a wire<T> throws
  explicit sample(detail::arrival from) : sample(std::move(from), read(from)) {}

  /// `const T&`, or a span of the elements of a vector, or a string_view. Valid until this object
  /// ends.
  typename detail::sample_view<T>::type value() const noexcept {
    if constexpr (kind == detail::value_kind::object)
      return this->detail::sample_object<T>::value;
    else if constexpr (kind == detail::value_kind::bytes)
      return *reinterpret_cast<const T*>(bytes_.data());
    else
      return {reinterpret_cast<const detail::element_t<T>*>(bytes_.data()),
              bytes_.size() / sizeof(detail::element_t<T>)};
  }
  auto operator*() const noexcept -> decltype(value()) { return value(); }
  const T* operator->() const noexcept
    requires(kind != detail::value_kind::elements)
  {
    return std::addressof(value());
  }
  /// The value as an object of its own. \throws std::bad_alloc
  T copy() const {
    if constexpr (kind == detail::value_kind::elements)
      return T(value().begin(), value().end());
    else
      return value();
  }

  /// Its number: the publisher counts its values from 1.
  std::uint64_t sequence() const noexcept { return bytes_.about().immediate; }
  /// How many values of this publisher the policy has dropped, since the last one that came.
  std::uint64_t missed() const noexcept { return missed_; }
  peer_id source() const noexcept { return bytes_.source(); }  ///< the publisher
  /// Whether it is read in the publisher's memory.
  bool in_place() const noexcept { return bytes_.in_place(); }

 private:
  static detail::sample_object<T> read(const detail::arrival& from) {
    const const_buffer bytes = from.bytes.span();
    if constexpr (kind == detail::value_kind::object) {
      std::optional<T> made;
      detail::make_value_of<T>(bytes, &made);
      return detail::sample_object<T>(std::move(*made));
    } else {
      using unit = typename detail::sample_element<T>::type;
      const bool fits = kind == detail::value_kind::bytes ? bytes.size() == sizeof(unit)
                                                          : bytes.size() % sizeof(unit) == 0;
      if (!fits) detail::value_does_not_fit(from, sizeof(unit));
      return {};
    }
  }
  sample(detail::arrival&& from, detail::sample_object<T> object)
      : detail::sample_object<T>(std::move(object)),
        bytes_(std::move(from.bytes)),
        missed_(from.missed) {}

  lent<std::byte> bytes_;
  std::uint64_t missed_;
};

}  // namespace weft
