// SPDX-License-Identifier: Apache-2.0
// region_of<T>, remote_region_of<T>: elements of a type as memory that peers reach by RMA.
//
//     region_of<std::uint64_t> board(ctx, 16);                       // at its owner
//     co_await peer.send_value(tag{1}, board.remote());
//
//     auto r = co_await owner.recv_value<remote_region_of<std::uint64_t>>(tag{1});
//     std::uint64_t before = co_await owner.fetch_add(r[3], 1);
//     co_await owner.put(42, r[5]);
//     std::uint64_t now = co_await owner.get(r[5]);
//     co_await owner.put(values, r.part(4, values.size()));
//     co_await owner.get(values, r.part(4, values.size()));
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <weft/detail/value_bytes.hpp>
#include <weft/endpoint.hpp>
#include <weft/operations/elements.hpp>
#include <weft/region.hpp>

namespace weft {

namespace detail {

/// Bytes of a remote region, by elements.
/// \throws weft::error (invalid_argument) if they exceed it
remote_region part_of_elements(const remote_region& all, std::size_t element, std::uint64_t from,
                               std::uint64_t count);

template <class T>
constexpr void require_word() noexcept {
  static_assert(std::integral<T> && sizeof(T) == 8,
                "fetch_add and compare_swap work on integers of 8 bytes: take a region_of "
                "std::uint64_t or std::int64_t");
}

}  // namespace detail

/// Names elements of a region of another process. A plain value, which travels by send_value; valid
/// as a remote_region is.
template <class T>
struct remote_region_of {
  remote_region bytes;

  std::size_t size() const noexcept { return static_cast<std::size_t>(bytes.size / sizeof(T)); }

  /// One element, or several from an index on.
  /// \throws weft::error (invalid_argument) if this remote region does not have them
  remote_region_of operator[](std::uint64_t index) const { return part(index, 1); }
  remote_region_of part(std::uint64_t from, std::uint64_t count) const {
    return {detail::part_of_elements(bytes, sizeof(T), from, count)};
  }
};

/// A region of elements: as `region`, with its errors, lifetime and threads. Elements that peers
/// update by atomics are read and written here by std::atomic_ref<T>.
///
/// A region is no part of a group, and no collective makes or ends it (as MPI_Win_allocate does):
/// its owner alone does. Others learn its name by a message. Before it ends, the owner waits until
/// they have ended what they do with it, as by a barrier of all of them; what comes later ends with
/// errc::refused.
template <class T>
class region_of {
  static_assert(detail::bytes_are_value<T>::value && std::is_same_v<T, std::remove_cv_t<T>>,
                "peers write bytes: T must be trivially copyable, and no pointer");

 public:
  /// Owns `count` elements, value-initialised.
  /// \throws what region's constructor throws; std::bad_alloc
  region_of(context& owner, std::size_t count, rights permissions = rights::read_write)
      : own_(std::make_unique<T[]>(count)),
        elements_(own_.get(), count),
        region_(owner, std::as_writable_bytes(elements_), permissions) {}

  /// Elements of the caller's, which must live as long as this object.
  region_of(context& owner, std::span<T> elements, rights permissions = rights::read_write)
      : elements_(elements), region_(owner, std::as_writable_bytes(elements_), permissions) {}

  region_of(region_of&& other) noexcept = default;
  /// The former region ends with `other`.
  region_of& operator=(region_of&& other) noexcept {
    std::swap(own_, other.own_);
    std::swap(elements_, other.elements_);
    region_ = std::move(other.region_);
    return *this;
  }
  ~region_of() = default;

  std::span<T> elements() const noexcept { return elements_; }
  std::size_t size() const noexcept { return elements_.size(); }
  T& operator[](std::size_t index) const noexcept { return elements_[index]; }

  /// The name of all elements, for peers.
  remote_region_of<T> remote() const noexcept { return {region_.remote()}; }

  /// As region::notified and region::end. The elements live until this object ends.
  notified_request notified() const noexcept { return region_.notified(); }
  region_end_request end() const noexcept { return region_.end(); }

 private:
  std::unique_ptr<T[]> own_;  // before region_, which ends first
  std::span<T> elements_;
  region region_;
};

template <class T>
transfer_request endpoint::put(std::span<const std::type_identity_t<T>> values,
                               const remote_region_of<T>& to, std::optional<notify> then) const {
  return put(std::as_bytes(values), to.bytes, then);
}

template <class T>
transfer_request endpoint::get(std::span<std::type_identity_t<T>> into,
                               const remote_region_of<T>& from) const {
  return get(std::as_writable_bytes(into), from.bytes);
}

/// Writes one element. `owner.put(42, there[3])`
/// \param value copied into the request
/// \param to    its first element is written
/// \param then  as for bytes
template <class T>
auto endpoint::put(const std::type_identity_t<T>& value, const remote_region_of<T>& to,
                   std::optional<notify> then) const {
  return value_put_request<T>{put(const_buffer{}, to.bytes, then), value};
}

/// Reads one element, the first of `from`.
/// \return when awaited, the element
template <class T>
auto endpoint::get(const remote_region_of<T>& from) const {
  return value_get_request<T>{get(mutable_buffer{}, from.bytes)};
}

/// Reads a word that others update by atomics: as fetch_add of 0, so the region needs
/// rights::read_write. A `get` may see a part of another update.
/// \param word its first element is read
/// \return when awaited, the word
template <class T>
auto endpoint::load(const remote_region_of<T>& word) const {
  return fetch_add(word, T{0});
}

template <class T>
transfer_request endpoint::signal(const remote_region_of<T>& to, notify what) const {
  return signal(to.bytes, what);
}

template <class T>
auto endpoint::fetch_add(const remote_region_of<T>& word, std::type_identity_t<T> addend) const {
  detail::require_word<T>();
  return typed_update_request<T>{fetch_add(word.bytes, static_cast<std::uint64_t>(addend))};
}

template <class T>
auto endpoint::compare_swap(const remote_region_of<T>& word, std::type_identity_t<T> expected,
                            std::type_identity_t<T> desired) const {
  detail::require_word<T>();
  return typed_update_request<T>{compare_swap(word.bytes, static_cast<std::uint64_t>(expected),
                                              static_cast<std::uint64_t>(desired))};
}

}  // namespace weft
