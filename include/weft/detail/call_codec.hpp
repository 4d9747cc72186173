// SPDX-License-Identifier: Apache-2.0
// The bytes of typed calls. All of it is behind `pack_values`, `unpack_values` and `reply_box`, so
// that another encoding can take its place.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/error.hpp>
#include <weft/message.hpp>

namespace weft {

/// The longest arguments of a typed call, and the longest typed reply, in bytes: for these a peer
/// chooses how much memory is allocated. Longer ones go through the calls with bytes, into memory
/// of the application.
inline constexpr std::size_t longest_typed_call = std::size_t{1} << 30;

namespace detail {

template <class T>
struct sequence_of : std::false_type {};
template <class T, class A>
struct sequence_of<std::vector<T, A>> : std::bool_constant<!std::is_same_v<T, bool>> {
  using element = T;
  using stored = std::vector<T, A>;
};
template <class T>
struct sequence_of<std::span<T>> : std::true_type {
  using element = std::remove_const_t<T>;
  using stored = std::vector<element>;
};
template <class C, class R, class A>
struct sequence_of<std::basic_string<C, R, A>> : std::true_type {
  using element = C;
  using stored = std::basic_string<C, R, A>;
};
template <class C, class R>
struct sequence_of<std::basic_string_view<C, R>> : std::true_type {
  using element = C;
  using stored = std::basic_string<C, R>;
};

template <class T>
inline constexpr bool is_sequence = sequence_of<T>::value;
template <class T>
inline constexpr bool travels_as_bytes = std::is_trivially_copyable_v<T> && !is_sequence<T> &&
                                         !std::is_pointer_v<T> && !std::is_member_pointer_v<T>;
template <class T>
concept tuple_like = requires { std::tuple_size<T>::value; } && !travels_as_bytes<T>;

template <class T>
constexpr bool can_travel() {
  if constexpr (is_sequence<T>)
    return travels_as_bytes<typename sequence_of<T>::element>;
  else if constexpr (travels_as_bytes<T>)
    return true;
  else if constexpr (tuple_like<T>)
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (can_travel<std::tuple_element_t<I, T>>() && ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
  else
    return false;
}

/// What a call can carry: a trivially copyable value; a string, vector or span of such; tuples and
/// pairs of these.
template <class T>
concept call_value = can_travel<std::remove_cvref_t<T>>();

/// The type that holds a decoded T: a span or a string_view needs memory behind it.
template <class T>
struct stored_as {
  using type = T;
};
template <class T>
  requires is_sequence<T>
struct stored_as<T> {
  using type = typename sequence_of<T>::stored;
};
template <class T>
using stored_t = typename stored_as<std::remove_cvref_t<T>>::type;

/// Bytes in memory of their own, or a view. Copies share the memory. It is not filled: of memory
/// for bytes that a peer has announced, the kernel gives only as much as has come.
class call_bytes {
 public:
  call_bytes() = default;
  /// \throws std::bad_alloc
  explicit call_bytes(std::size_t size) : size_(size) {
    if (size > brief_.size()) {
      long_ = std::make_shared_for_overwrite<std::byte[]>(size);
      view_ = long_.get();
    }
  }
  static call_bytes view_of(const_buffer b) noexcept {
    call_bytes c;
    c.view_ = b.data();
    c.size_ = b.size();
    return c;
  }

  const_buffer bytes() const noexcept { return {view_ ? view_ : brief_.data(), size_}; }
  std::byte* data() noexcept { return long_ ? long_.get() : brief_.data(); }

 private:
  std::size_t size_ = 0;
  std::array<std::byte, 64> brief_{};
  std::shared_ptr<std::byte[]> long_;
  const std::byte* view_ = nullptr;
};

/// Whether values of these types have any number of bytes; and the fewest that they have.
template <class T>
constexpr bool has_sequence() {
  if constexpr (is_sequence<T> || travels_as_bytes<T>)
    return is_sequence<T>;
  else
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (has_sequence<std::tuple_element_t<I, T>>() || ...);
    }(std::make_index_sequence<std::tuple_size_v<T>>());
}
template <class T>
constexpr std::size_t least_size() {
  if constexpr (is_sequence<T>)
    return sizeof(std::uint64_t);
  else if constexpr (travels_as_bytes<T>)
    return sizeof(T);
  else
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return (std::size_t{0} + ... + least_size<std::tuple_element_t<I, T>>());
    }(std::make_index_sequence<std::tuple_size_v<T>>());
}

/// The sizes that a call with arguments of these types can have.
struct call_sizes {
  std::size_t least = 0;
  std::size_t most = longest_typed_call;
};
template <class... T>
constexpr call_sizes sizes_of_call() {
  if constexpr (sizeof...(T) == 1 && (is_sequence<T> && ...)) return {};  // its elements alone
  const std::size_t least = (std::size_t{0} + ... + least_size<T>());
  return (has_sequence<T>() || ...) ? call_sizes{least} : call_sizes{least, least};
}

template <class T>
std::size_t size_of_value(const T& v) noexcept {
  if constexpr (is_sequence<T>)
    return sizeof(std::uint64_t) + v.size() * sizeof(*v.data());
  else if constexpr (travels_as_bytes<T>)
    return sizeof(T);
  else
    return std::apply(
        [](const auto&... each) { return (std::size_t{0} + ... + size_of_value(each)); }, v);
}

inline void put_bytes(std::byte*& at, const void* from, std::size_t n) noexcept {
  if (n != 0) std::memcpy(at, from, n);
  at += n;
}

template <class T>
void put_value(std::byte*& at, const T& v) noexcept {
  if constexpr (is_sequence<T>) {
    const std::uint64_t n = v.size() * sizeof(*v.data());
    put_bytes(at, &n, sizeof n);
    put_bytes(at, v.data(), n);
  } else if constexpr (travels_as_bytes<T>) {
    put_bytes(at, &v, sizeof v);
  } else {
    std::apply([&](const auto&... each) { (put_value(at, each), ...); }, v);
  }
}

/// Takes values out of bytes that a peer sent. Each step is checked.
class value_source {
 public:
  explicit value_source(const_buffer b) noexcept : left_(b), size_(b.size()) {}

  template <class T>
  void get(T& v) {
    if constexpr (is_sequence<T>) {
      std::uint64_t n = 0;
      take(&n, sizeof n);
      fill(v, n);
    } else if constexpr (travels_as_bytes<T>) {
      take(&v, sizeof v);
    } else {
      std::apply([this](auto&... each) { (this->get(each), ...); }, v);
    }
  }
  /// A sequence that is all of the bytes.
  template <class T>
  void get_all(T& v) {
    fill(v, left_.size());
  }
  void expect_end() const {
    if (!left_.empty())
      throw error(errc::refused, std::to_string(size_) + " bytes came, and the types take " +
                                     std::to_string(size_ - left_.size()));
  }

 private:
  template <class T>
  void fill(T& v, std::uint64_t n) {
    using element = typename T::value_type;
    if (n > left_.size()) short_of(n);
    if (n % sizeof(element) != 0)
      throw error(errc::refused, "a sequence of " + std::to_string(n) +
                                     " bytes came, and its elements have " +
                                     std::to_string(sizeof(element)));
    v.resize(n / sizeof(element));
    take(v.data(), n);
  }
  void take(void* into, std::size_t n) {
    if (n > left_.size()) short_of(n);
    if (n != 0) std::memcpy(into, left_.data(), n);
    left_ = left_.subspan(n);
  }
  [[noreturn]] void short_of(std::uint64_t n) const {
    throw error(errc::refused, std::to_string(size_) + " bytes came, and the types take at least " +
                                   std::to_string(size_ - left_.size()) + " + " +
                                   std::to_string(n));
  }

  const_buffer left_;
  std::size_t size_;
};

/// Values as bytes. One sequence alone is its elements; then a span is not copied: its elements
/// live unchanged until the end of the call. \throws std::bad_alloc
template <class... T>
call_bytes pack_values(const T&... values) {
  static_assert(
      (call_value<T> && ...),
      "a call carries trivially copyable values, strings, vectors and spans of these, and "
      "tuples of all; for other types, send bytes of your own");
  if constexpr (sizeof...(T) == 1 && (is_sequence<T> && ...)) {
    const auto whole = std::as_bytes(std::span(values.data()..., values.size()...));
    if constexpr ((std::is_same_v<T, std::span<typename sequence_of<T>::element>> || ...) ||
                  (std::is_same_v<T, std::span<const typename sequence_of<T>::element>> || ...))
      return call_bytes::view_of(whole);
    call_bytes all(whole.size());
    std::byte* at = all.data();
    put_bytes(at, whole.data(), whole.size());
    return all;
  } else {
    call_bytes all((std::size_t{0} + ... + size_of_value(values)));
    [[maybe_unused]] std::byte* at = all.data();
    (put_value(at, values), ...);
    return all;
  }
}

/// One value as bytes. Its elements, if it has such, live unchanged until the end.
template <class T>
call_bytes pack_view(const T& value) {
  if constexpr (is_sequence<T>)
    return call_bytes::view_of(std::as_bytes(std::span(value.data(), value.size())));
  else
    return pack_values(value);
}

/// As pack_values, and nothing of the caller's is needed any more.
template <class... T>
call_bytes pack_owned(const T&... values) {
  if constexpr (sizeof...(T) == 1 && (is_sequence<T> && ...))
    return pack_values(typename sequence_of<T>::stored(values.begin(), values.end())...);
  else
    return pack_values(values...);
}

/// The reverse. \throws weft::error (refused) with both sizes; std::bad_alloc
template <class... T>
std::tuple<stored_t<T>...> unpack_values(const_buffer from) {
  static_assert((call_value<T> && ...), "a type that no call carries");
  std::tuple<stored_t<T>...> all;
  value_source source(from);
  if constexpr (sizeof...(T) == 1 && (is_sequence<std::remove_cvref_t<T>> && ...))
    source.get_all(std::get<0>(all));
  else
    std::apply([&](auto&... each) { (source.get(each), ...); }, all);
  source.expect_end();
  return all;
}

/// Takes a reply and becomes an R.
template <class R>
class reply_box {
  static constexpr bool plain = travels_as_bytes<R>;
  static constexpr bool sequence = is_sequence<R>;
  static_assert(call_value<R>, "a type that no call carries");
  static_assert(std::is_same_v<stored_t<R>, R>, "a reply needs memory: name a vector or a string");

 public:
  /// \param into the memory for a reply of `size` bytes; of another size if it does not fit
  errc make_room(std::uint64_t size, mutable_buffer& into) noexcept {
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
