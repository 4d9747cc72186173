// SPDX-License-Identifier: Apache-2.0
// The values of typed calls from their bytes. Applications do not name these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <weft/detail/call_pack.hpp>
#include <weft/detail/element_memory.hpp>
#include <weft/detail/value_landing.hpp>
#include <weft/error.hpp>

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
  using type = element_memory<std::remove_cv_t<T>>;
};
template <class C, class Traits>
struct stored_as<std::basic_string_view<C, Traits>> {
  using type = element_memory<C>;
};
template <class T>
using stored_t = typename stored_as<std::remove_cvref_t<T>>::type;

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

/// Of a reply, which this side has asked for, any vector or string is filled before its bytes come.
inline constexpr row_limits rows_of_replies{shortest_row_in_place, longest_typed_call};

/// The arguments of a call.
template <class... T>
constexpr void require_call_values() noexcept {
  (require_value<std::remove_cvref_t<T>>(), ...);
}

/// The values of bytes that are all here.
/// \throws weft::error (refused) with the sizes; std::bad_alloc
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

/// A list that is one buffer, or none.
inline buffer_list<mutable_buffer> no_room_for(std::size_t wanted) noexcept {
  return mutable_buffer(static_cast<std::byte*>(nullptr), wanted);
}

/// Takes a reply and becomes an R, or goes into the R that an R& names.
template <class R>
class reply_box {
  using value = std::remove_reference_t<R>;
  static constexpr bool into_own = std::is_reference_v<R>;
  static constexpr bool plain = kind_of<value> == value_kind::bytes;
  static constexpr bool sequence = kind_of<value> == value_kind::elements;
  static_assert(into_own || std::is_same_v<stored_t<value>, value>,
                "a reply needs memory: name a vector or a string");

 public:
  reply_box() = default;
  explicit reply_box(value& there) noexcept : value_(&there) {}

  /// \param beginning of the reply, as far as it has come
  /// \param into the memory for a reply of `size` bytes; of another size if it does not fit
  errc make_room(std::uint64_t size, const_buffer beginning,
                 buffer_list<mutable_buffer>& into) noexcept {
    require_value<value>();
    if constexpr (plain) {
      into = std::as_writable_bytes(std::span(&get(), 1));
      return size == sizeof(value) ? errc::ok : errc::truncated;
    } else {
      if (size > longest_typed_call) return errc::out_of_memory;
      try {
        return make_memory(static_cast<std::size_t>(size), beginning, into);
      } catch (...) {
        return errc::out_of_memory;
      }
    }
  }
  std::conditional_t<into_own, void, value> take() {
    if constexpr (plain || sequence) {
      if constexpr (!into_own) return std::move(value_);
    } else if constexpr (into_own) {
      landing_.take_into(get());
    } else {
      return std::get<0>(landing_.take());
    }
  }

 private:
  value& get() noexcept {
    if constexpr (into_own)
      return *value_;
    else
      return value_;
  }
  errc make_memory(std::size_t size, const_buffer beginning, buffer_list<mutable_buffer>& into) {
    if constexpr (sequence) {
      using element = element_t<value>;
      into = no_room_for(sizeof(element));
      if (size % sizeof(element) != 0) return errc::truncated;
      if constexpr (elements_of<value>::owns) get().resize(size / sizeof(element));
      into = writable_bytes_of_value(get());
      return into.size() == size ? errc::ok : errc::truncated;
    } else {
      constexpr call_sizes taken = sizes_of_call<value>();
      into = no_room_for(taken.least);
      if (size < taken.least || size > taken.most) return errc::truncated;
      if constexpr (into_own)
        landing_.make_room(size, beginning, rows_of_replies, &get());
      else
        landing_.make_room(size, beginning, rows_of_replies, nullptr);
      into = landing_.room();
      return errc::ok;
    }
  }

  struct nothing {};
  static constexpr bool lies_in_row = plain || sequence;
  std::conditional_t<into_own, value*, std::conditional_t<lies_in_row, value, nothing>> value_{};
  std::conditional_t<lies_in_row, nothing, value_landing<value>> landing_;
};

template <>
class reply_box<void> {
 public:
  errc make_room(std::uint64_t size, const_buffer, buffer_list<mutable_buffer>&) noexcept {
    return size == 0 ? errc::ok : errc::truncated;
  }
  void take() const noexcept {}
};

}  // namespace detail
}  // namespace weft
