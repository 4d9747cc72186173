// SPDX-License-Identifier: Apache-2.0
// Small numbers for things in flight, so that a peer can name them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <vector>

namespace weft::proto {

/// Hands out numbers from 1 and looks them up. A number that a peer makes up finds nothing.
template <class T>
class id_table {
 public:
  static constexpr std::size_t most = 65535;

  /// 0 when all numbers are taken, or there is no memory for more.
  std::uint16_t insert(T& what) noexcept {
    if (free_.empty() && !add()) return 0;
    const std::uint16_t id = free_.back();
    free_.pop_back();
    entries_[id - 1u] = &what;
    return id;
  }

  T* find(std::uint64_t id) const noexcept {
    return id == 0 || id > entries_.size() ? nullptr : entries_[id - 1];
  }

  void erase(std::uint16_t id) noexcept {
    entries_[id - 1u] = nullptr;
    free_.push_back(id);
  }

  /// Gives that number to another object.
  void replace(std::uint16_t id, T& by) noexcept { entries_[id - 1u] = &by; }

  /// Erases all objects for which `chosen` holds. `chosen` must not change the table by itself.
  template <class Predicate>
  void erase_if(Predicate chosen) {
    for (std::size_t i = 0; i != entries_.size(); ++i)
      if (entries_[i] && chosen(*entries_[i])) erase(static_cast<std::uint16_t>(i + 1));
  }

  /// Calls `act` for each object that is in the table at its turn. `act` may take objects out, and
  /// puts none in.
  template <class Action>
  void for_each(Action act) {
    for (std::size_t i = 0; i != entries_.size(); ++i)
      if (entries_[i]) act(*entries_[i]);
  }

  template <class Action>
  void for_each(Action act) const {
    for (const T* t : entries_)
      if (t) act(*t);
  }

  /// An object in the table for which `chosen` holds; null: none.
  template <class Predicate>
  T* any_if(Predicate chosen) const noexcept {
    for (T* t : entries_)
      if (t && chosen(*t)) return t;
    return nullptr;
  }
  T* any() const noexcept {
    return any_if([](const T&) { return true; });
  }

  std::size_t size() const noexcept { return entries_.size() - free_.size(); }
  bool none() const noexcept { return free_.size() == entries_.size(); }

 private:
  bool add() noexcept {
    if (entries_.size() == most) return false;
    try {
      // Room to take back every number: `erase` cannot fail.
      if (free_.capacity() == entries_.size()) free_.reserve(2 * entries_.size() + 1);
      entries_.push_back(nullptr);
    } catch (const std::bad_alloc&) {
      return false;
    }
    free_.push_back(static_cast<std::uint16_t>(entries_.size()));
    return true;
  }

  std::vector<T*> entries_;
  std::vector<std::uint16_t> free_;
};

}  // namespace weft::proto
