// SPDX-License-Identifier: Apache-2.0
// The bytes of typed calls: those of their values, one behind the other. Applications do not name
// these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/detail/call_bytes.hpp>
#include <weft/detail/value_size.hpp>
#include <weft/error.hpp>
#include <weft/wire.hpp>

namespace weft {

/// The longest arguments of a typed call, and the longest typed reply, in bytes: for these a peer
/// chooses how much memory is allocated. Longer ones go through the calls with bytes, into memory
/// of the application.
inline constexpr std::size_t longest_typed_call = std::size_t{1} << 30;

namespace detail {

/// The type that holds a decoded T: a span or a string_view needs memory behind it.
template <class T>
struct stored_as {
  using type = T;
};
template <class T, std::size_t N>
struct stored_as<std::span<T, N>> {
  using type = std::vector<std::remove_cv_t<T>>;
};
template <class C, class Traits>
struct stored_as<std::basic_string_view<C, Traits>> {
  using type = std::basic_string<C, Traits>;
};
template <class T>
using stored_t = typename stored_as<std::remove_cvref_t<T>>::type;

/// Whether values are elements and nothing else: then they have no number in front.
template <class... T>
inline constexpr bool are_elements_alone =
    sizeof...(T) == 1 && ((kind_of<T> == value_kind::elements) && ...);

/// The sizes that a call with arguments of these types can have.
struct call_sizes {
  std::size_t least = 0;
  std::size_t most = longest_typed_call;
};
template <class... T>
constexpr call_sizes sizes_of_call() noexcept {
  if constexpr (are_elements_alone<T...>) return {};
  constexpr value_sizes all = (value_sizes{} + ... + sizes_of_value<T>());
  return {all.least, all.fixed ? all.least : longest_typed_call};
}

/// Memory for values that have been counted.
class flat_sink final : public sink {
 public:
  explicit flat_sink(mutable_buffer room) noexcept : sink(room) {}

 private:
  mutable_buffer next_room() override;
};

/// Bytes that are all here.
class flat_source final : public source {
 public:
  explicit flat_source(const_buffer all) noexcept : source(all) {}

 private:
  const_buffer next_bytes() override { return {}; }
};

/// \throws weft::error (invalid_argument): a wire<T> wrote less than when it was counted
void require_full(std::uint64_t written, std::size_t counted);
/// \throws weft::error (refused): bytes are left
void require_taken(std::size_t size, std::size_t left);
/// They do not hold the values. \throws weft::error (refused)
[[noreturn]] void refuse_bytes(std::size_t size, const error& why);

/// The arguments of a call.
template <class... T>
constexpr void require_call_values() noexcept {
  (require_value<std::remove_cvref_t<T>>(), ...);
}

/// Values as bytes. Elements alone have no number in front, and those of a span are not copied:
/// they live unchanged until the end of the call. \throws std::bad_alloc, what a wire<T> throws
template <class... T>
call_bytes pack_values(const T&... values) {
  if constexpr (are_elements_alone<T...>) {
    const const_buffer whole = (bytes_of_value(values), ...);
    if constexpr ((std::is_same_v<T, std::span<element_t<T>>> || ...) ||
                  (std::is_same_v<T, std::span<const element_t<T>>> || ...))
      return call_bytes::view_of(whole);
    call_bytes all(whole.size());
    flat_sink(mutable_buffer(all.data(), whole.size())).write(whole);
    return all;
  } else {
    const std::size_t size = size_of_values(values...);
    call_bytes all(size);
    flat_sink to(mutable_buffer(all.data(), size));
    (put_value(to, values), ...);
    if constexpr (!(sizes_of_value<T>().fixed && ...)) require_full(to.written(), size);
    return all;
  }
}

/// One value as bytes. Its elements, if it has such, live unchanged until the end.
template <class T>
call_bytes pack_view(const T& value) {
  if constexpr (kind_of<T> == value_kind::elements)
    return call_bytes::view_of(bytes_of_value(value));
  else
    return pack_values(value);
}

/// As pack_values, and nothing of the caller's is needed any more.
template <class... T>
call_bytes pack_owned(const T&... values) {
  if constexpr (are_elements_alone<T...>)
    return pack_values(stored_t<T>(values.begin(), values.end())...);
  else
    return pack_values(values...);
}

/// The reverse. \throws weft::error (refused) with the sizes; std::bad_alloc
template <class... T>
std::tuple<stored_t<T>...> unpack_values(const_buffer from) {
  try {
    flat_source bytes(from);
    if constexpr (are_elements_alone<std::remove_cvref_t<T>...>) {
      std::tuple<stored_t<T>...> all;
      auto& into = std::get<0>(all);
      into.resize(from.size() / sizeof(*into.data()));
      bytes.read(writable_bytes_of_value(into));
      require_taken(from.size(), bytes.at_hand());
      return all;
    } else {
      std::tuple<stored_t<T>...> all{get_value<stored_t<T>>(bytes)...};
      require_taken(from.size(), bytes.at_hand());
      return all;
    }
  } catch (const error& e) {
    refuse_bytes(from.size(), e);
  }
}

/// Takes a reply and becomes an R.
template <class R>
class reply_box {
  static constexpr bool plain = kind_of<R> == value_kind::bytes;
  static constexpr bool sequence = kind_of<R> == value_kind::elements;
  static_assert(std::is_same_v<stored_t<R>, R>, "a reply needs memory: name a vector or a string");

 public:
  /// \param into the memory for a reply of `size` bytes; of another size if it does not fit
  errc make_room(std::uint64_t size, mutable_buffer& into) noexcept {
    require_value<R>();
    if constexpr (plain) {
      into = std::as_writable_bytes(std::span(&value_, 1));
      return size == sizeof(R) ? errc::ok : errc::truncated;
    } else {
      if (size > longest_typed_call) return errc::out_of_memory;
      try {
        if constexpr (sequence) {
          using element = typename R::value_type;
          into = {static_cast<std::byte*>(nullptr), sizeof(element)};
          if (size % sizeof(element) != 0) return errc::truncated;
          value_.resize(size / sizeof(element));
          into = std::as_writable_bytes(std::span(value_.data(), value_.size()));
        } else {
          constexpr call_sizes taken = sizes_of_call<R>();
          into = {static_cast<std::byte*>(nullptr), taken.least};
          if (size < taken.least || size > taken.most) return errc::truncated;
          value_ = call_bytes(size);
          into = {value_.data(), size};
        }
      } catch (...) {
        return errc::out_of_memory;
      }
      return errc::ok;
    }
  }
  R take() {
    if constexpr (plain || sequence)
      return std::move(value_);
    else
      return std::get<0>(unpack_values<R>(value_.bytes()));
  }

 private:
  std::conditional_t<plain || sequence, R, call_bytes> value_{};
};

template <>
class reply_box<void> {
 public:
  errc make_room(std::uint64_t size, mutable_buffer&) noexcept {
    return size == 0 ? errc::ok : errc::truncated;
  }
  void take() const noexcept {}
};

}  // namespace detail
}  // namespace weft
