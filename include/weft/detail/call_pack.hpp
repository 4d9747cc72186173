// SPDX-License-Identifier: Apache-2.0
// Values as the bytes of a call or a reply. A long row of elements is sent from where it lies.
// Applications do not name these.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>

#include <weft/detail/call_bytes.hpp>
#include <weft/detail/value_size.hpp>
#include <weft/wire.hpp>

namespace weft::detail {

/// Shorter rows of elements are copied, which costs less than a piece of their own.
inline constexpr std::size_t shortest_row_in_place = std::size_t{16} << 10;

/// Whether values are elements and nothing else: then they have no number in front.
template <class... T>
inline constexpr bool are_elements_alone =
    sizeof...(T) == 1 && ((kind_of<T> == value_kind::elements) && ...);

/// Memory for values that have been counted.
class flat_sink final : public sink {
 public:
  explicit flat_sink(mutable_buffer room) noexcept : sink(room) {}

 private:
  mutable_buffer next_room() override;
};

/// \throws weft::error (invalid_argument): a wire<T> wrote less than when it was counted
void require_full(std::uint64_t written, std::size_t counted);

/// Whether a moved object has the elements that it had, where they were: also a wire<T>, whose
/// elements are never sent from their place.
template <class T>
constexpr bool keeps_place_moved() noexcept {
  if constexpr (has_wire<T> || kind_of<T> == value_kind::bytes || has_elements<T>)
    return true;
  else if constexpr (parts_of<T> == value_parts::collection)
    return false;
  else
    return each_part<T>([]<class P>() { return keeps_place_moved<P>(); });
}

/// How an argument T&& may be sent without a copy: it is the caller's, or may be moved.
template <class T>
constexpr bool stays_in_place() noexcept {
  if constexpr (is_borrowed<T>)
    return true;
  else
    return !std::is_const_v<T> && keeps_place_moved<std::remove_cv_t<T>>();
}

/// Counts the bytes of values, and finds the first long row of elements.
class row_finder {
 public:
  void write(const_buffer bytes) noexcept { written_ += bytes.size(); }
  void write_elements(const_buffer row) noexcept {
    if (looks_ && copies_ == 0 && row_.empty() && row.size() >= shortest_row_in_place) {
      row_ = row;
      at_ = written_;
      argument_ = argument_now_;
    }
    written_ += row.size();
  }
  std::uint64_t written() const noexcept { return written_; }
  /// What comes until `false` lives in this moment only.
  void note_copies(bool begins) noexcept { copies_ += begins ? 1 : -1; }
  template <class T>
  void put_own(const T& value) {
    counting_sink counts;
    wire<T>::put(counts, value);
    written_ += counts.written();
  }

  template <class T>
  void argument(const std::remove_reference_t<T>& value) {
    looks_ = stays_in_place<T>();
    put_value(*this, value);
    ++argument_now_;
  }
  const_buffer row() const noexcept { return row_; }
  std::size_t at() const noexcept { return at_; }
  int argument_with_row() const noexcept { return argument_; }

 private:
  std::uint64_t written_ = 0;
  const_buffer row_;
  std::size_t at_ = 0;
  bool looks_ = true;
  int copies_ = 0;
  int argument_now_ = 0;
  int argument_ = -1;
};

/// Writes what is around that row.
class around_row_sink {
 public:
  around_row_sink(flat_sink& to, const row_finder& found) noexcept : to_(to), found_(found) {}
  void write(const_buffer bytes) { to_.write(bytes); }
  void write_elements(const_buffer row) {
    if (skipped_ == 0 && to_.written() == found_.at())
      skipped_ = row.size();
    else
      to_.write(row);
  }
  std::uint64_t written() const noexcept { return to_.written() + skipped_; }
  template <class T>
  void put_own(const T& value) {
    wire<T>::put(to_, value);
  }

 private:
  flat_sink& to_;
  const row_finder& found_;
  std::uint64_t skipped_ = 0;
};

/// Null: it is the caller's.
template <class T>
std::shared_ptr<const void> own_row(T&& value) {
  if constexpr (is_borrowed<T> || !stays_in_place<T>())
    return nullptr;
  else
    return std::make_shared<std::remove_cvref_t<T>>(std::forward<T>(value));
}

/// As bytes that are all copied.
template <class... T>
call_bytes pack_owned(const T&... values) {
  if constexpr (are_elements_alone<T...>) {
    const const_buffer whole = (bytes_of_value(values), ...);
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

/// The only value, which is elements.
template <class T>
call_bytes pack_elements(T&& value) {
  const const_buffer whole = bytes_of_value(value);
  constexpr bool view = !elements_of<std::remove_cvref_t<T>>::owns;
  if (!view && whole.size() < shortest_row_in_place) return pack_owned(value);
  call_bytes all = call_bytes::view_of(whole);
  if constexpr (stays_in_place<T>() && !is_borrowed<T>)
    all.surround(whole, 0, own_row(std::forward<T>(value)));
  else if constexpr (!is_borrowed<T>)
    all = pack_owned(value);
  return all;
}

/// Values as bytes. The elements of a span or a string_view, and long rows of elements of an
/// lvalue, are not copied: they live unchanged until the end. A long one of an rvalue is moved.
/// \throws std::bad_alloc, what a wire<T> throws
template <class... T>
call_bytes pack_values(T&&... values) {
  if constexpr (are_elements_alone<std::remove_cvref_t<T>...>) {
    return pack_elements(std::forward<T>(values)...);
  } else if constexpr ((sizes_of_value<std::remove_cvref_t<T>>().fixed && ...)) {
    return pack_owned(values...);
  } else {
    row_finder found;
    (found.template argument<T>(values), ...);
    const auto size = static_cast<std::size_t>(found.written());
    call_bytes all(size - found.row().size());
    flat_sink to(mutable_buffer(all.data(), size - found.row().size()));
    if (found.row().empty()) {
      (put_value(to, values), ...);
      require_full(to.written(), size);
      return all;
    }
    around_row_sink around(to, found);
    (put_value(around, values), ...);
    require_full(around.written(), size);
    std::shared_ptr<const void> owner;
    int n = 0;
    const auto keep = [&]<class V>(V&& value) {
      if (n++ == found.argument_with_row()) owner = own_row<V>(std::forward<V>(value));
    };
    (keep(std::forward<T>(values)), ...);
    all.surround(found.row(), found.at(), std::move(owner));
    return all;
  }
}

/// One value that lives unchanged until the end.
template <class T>
call_bytes pack_view(const T& value) {
  if constexpr (kind_of<T> == value_kind::elements)
    return call_bytes::view_of(bytes_of_value(value));
  else
    return pack_values(value);
}

}  // namespace weft::detail
