// SPDX-License-Identifier: Apache-2.0
// The numbers that a peer has given to its messages, or to its calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "proto/frames/frames.hpp"

namespace weft::proto {

/// What one peer has numbered and waits for, by the peer's numbers. A table of two levels, so that
/// nothing is searched, and that any number costs 2 KiB at most.
template <class T>
class sender_numbers {
 public:
  /// Null: nothing under way has that number.
  T* find(std::uint64_t number) const noexcept {
    if (number > max || !pages_ || !(*pages_)[number / per_page]) return nullptr;
    return (*pages_)[number / per_page]->at[number % per_page];
  }

  template <class Action>
  void for_each(Action act) const {
    if (!pages_) return;
    for (const std::unique_ptr<page>& p : *pages_)
      for (std::size_t i = 0; p && i != per_page; ++i)
        if (p->at[i]) act(*p->at[i]);
  }

  /// Adds a number that nothing else has. \throws std::bad_alloc, and then nothing has changed
  void add(local_id number, T& m) {
    if (!pages_) pages_ = std::make_unique<directory>();
    std::unique_ptr<page>& p = (*pages_)[number / per_page];
    if (!p) p = std::make_unique<page>();
    p->at[number % per_page] = &m;
    ++p->used;
  }

  void erase(local_id number) noexcept {
    std::unique_ptr<page>& p = (*pages_)[number / per_page];
    p->at[number % per_page] = nullptr;
    // The first page stays: correct peers have few messages under way, and the lowest numbers.
    if (--p->used == 0 && number >= per_page) p.reset();
  }

 private:
  static constexpr std::size_t per_page = 256;
  static constexpr std::uint64_t max = 0xffff;
  struct page {
    std::array<T*, per_page> at{};
    std::size_t used = 0;
  };
  using directory = std::array<std::unique_ptr<page>, (max + 1) / per_page>;
  std::unique_ptr<directory> pages_;
};

}  // namespace weft::proto
