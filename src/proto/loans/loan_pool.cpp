// SPDX-License-Identifier: Apache-2.0
#include "proto/loans/loan_pool.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>
#include <utility>

namespace weft::proto {

namespace {
// Four sizes between a power of two and the next one: a quarter is lost at most.
constexpr std::size_t classes = 4 * std::numeric_limits<std::size_t>::digits;
}  // namespace

loan_pool::loan_pool(runtime::engine& e, std::size_t most)
    : engine_(e), budget_(std::max(page, (most + page - 1) / page * page)) {}

loan_pool::~loan_pool() = default;

loan_pool::size_class loan_pool::class_of(std::size_t size) noexcept {
  const std::size_t pages = std::max<std::size_t>(1, (size + page - 1) / page);
  if (pages <= 4) return {pages - 1, pages * page};
  const auto shift = static_cast<std::size_t>(std::bit_width(pages - 1)) - 3;
  const std::size_t steps = ((pages - 1) >> shift) + 1;
  return {4 * shift + steps - 1, (steps << shift) * page};
}

void loan_pool::use(std::span<std::byte> memory) {
  free_.resize(classes);
  extents_.emplace(0, memory.size());
  memory_ = memory;
}

loan_block* loan_pool::take(std::size_t size) noexcept {
  if (size > budget_) return nullptr;
  // Rounding up may exceed the memory where the size itself does not.
  const size_class c = class_of(size);
  const std::size_t bytes = std::min(c.bytes, budget_);
  loan_block* b = free_[c.index];
  if (b)
    free_[c.index] = b->next_free;
  else
    b = make(bytes, c.index);
  if (!b) return nullptr;
  b->holders = 1;
  ++in_use_;
  bytes_in_use_ += b->capacity;
  return b;
}

void loan_pool::give_back(loan_block& b) noexcept {
  if (--b.holders != 0) return;
  --in_use_;
  bytes_in_use_ -= b.capacity;
  b.next_free = std::exchange(free_[b.index], &b);
}

loan_message* loan_pool::message_of(loan_block& b) noexcept {
  if (!b.first.block) return &b.first;
  if (!free_message_) {
    try {
      return &messages_.emplace_back(*this);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  return std::exchange(free_message_, free_message_->next_free);
}

void loan_pool::give_back(loan_message& m) noexcept {
  loan_block& b = *std::exchange(m.block, nullptr);
  if (&m != &b.first) m.next_free = std::exchange(free_message_, &m);
  give_back(b);
}

/// \return null: no piece is large enough, or there is no memory for the block
loan_block* loan_pool::make(std::size_t bytes, std::size_t index) noexcept {
  try {
    loan_block* const b = cut(bytes, index);
    if (b || budget_ - bytes_in_use_ < bytes) return b;
    join_free();
    return cut(bytes, index);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

/// The first piece that is large enough. \return null: there is none
loan_block* loan_pool::cut(std::size_t bytes, std::size_t index) {
  const auto it = std::find_if(extents_.begin(), extents_.end(),
                               [bytes](const auto& e) { return e.second >= bytes; });
  if (it == extents_.end()) return nullptr;
  const std::size_t offset = it->first, end = offset + bytes;
  auto made = std::make_unique<loan_block>(*this, memory_.data() + offset, bytes, index);
  loan_block* const b = made.get();
  blocks_.emplace(b, std::move(made));
  auto rest = extents_.extract(it);
  rest.key() = end;
  rest.mapped() -= bytes;
  if (rest.mapped() != 0) extents_.insert(std::move(rest));
  for (std::size_t at = std::max(offset, touched_); at < end; at += page)
    *const_cast<volatile std::byte*>(memory_.data() + at) = std::byte{0};
  touched_ = std::max(touched_, end);
  return b;
}

void loan_pool::join_free() {
  for (loan_block*& first : free_)
    while (first) {
      add_extent(static_cast<std::size_t>(first->at - memory_.data()), first->capacity);
      const loan_block* const over = first;
      first = first->next_free;
      blocks_.erase(over);
    }
}

/// \throws std::bad_alloc, and then nothing has changed
void loan_pool::add_extent(std::size_t offset, std::size_t size) {
  const auto it = extents_.emplace(offset, size).first;
  const auto after = std::next(it);
  if (after != extents_.end() && it->first + it->second == after->first) {
    it->second += after->second;
    extents_.erase(after);
  }
  if (it == extents_.begin()) return;
  const auto before = std::prev(it);
  if (before->first + before->second != it->first) return;
  before->second += it->second;
  extents_.erase(it);
}

std::string loan_pool::explain(std::size_t size) const {
  if (size > budget_)
    return fmt::format(
        "a loan of {} bytes: all loans of a context together have {} (options::loan_budget, "
        "WEFT_LOAN_BUDGET); raise it, or send the message in parts",
        size, budget_);
  return fmt::format(
      "no room for a loan of {} bytes: {} of the {} bytes for loans (options::loan_budget, "
      "WEFT_LOAN_BUDGET) are in {} loans that are held here, under way, or read by peers, and the "
      "rest is in smaller pieces; raise it, or have receivers end their views earlier",
      size, bytes_in_use_, budget_, in_use_);
}

bool loan_pool::is_whole() noexcept {
  if (in_use_ != 0) return false;
  if (memory_.empty()) return true;
  try {
    join_free();
  } catch (const std::bad_alloc&) {
    return false;
  }
  return extents_.size() == 1 && extents_.begin()->second == memory_.size() && blocks_.empty();
}

void loan_message::finish(errc how) noexcept {
  hand_over(how);
  pool->give_back(*this);
}

}  // namespace weft::proto
