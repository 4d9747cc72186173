// SPDX-License-Identifier: Apache-2.0
#include "support/collective_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace weft::bench {
namespace {

std::size_t words_in(collective_call which, std::size_t size) {
  if (which != collective_call::all_reduce) return 0;
  if (size == 0 || size % sizeof(std::uint64_t) != 0)
    throw std::invalid_argument(
        fmt::format("all_reduce adds numbers of 8 bytes: {} bytes are no multiple", size));
  return size / sizeof(std::uint64_t);
}

void check_word(const std::vector<std::uint64_t>& words, std::size_t at, std::uint64_t expected) {
  if (words[at] != expected)
    throw std::runtime_error(
        fmt::format("the sum in word {} is {} instead of {}", at, words[at], expected));
}

}  // namespace

collective_call call_named(const std::string& name) {
  const auto at = std::find(collective_calls.begin(), collective_calls.end(), name);
  if (at == collective_calls.end())
    throw std::invalid_argument(fmt::format("no collective call is measured as {}", name));
  return static_cast<collective_call>(at - collective_calls.begin());
}

collective_work::collective_work(collective_call which, std::size_t size, int rank, int ranks)
    : which_(which),
      size_(size),
      me_(static_cast<std::uint64_t>(rank)),
      ranks_(static_cast<std::uint64_t>(ranks)),
      out_(1, which == collective_call::all_to_all ? size * ranks_ : 0),
      in_(1, which == collective_call::all_to_all  ? size * ranks_
             : which == collective_call::broadcast ? size
                                                   : 0),
      words_(words_in(which, size)) {
  prepare_all(0);
}

void collective_work::prepare(std::uint64_t n) noexcept {
  switch (which_) {
    case collective_call::barrier:
      return;
    case collective_call::broadcast:
      if (me_ == n % ranks_) stamp(in_[0], n);
      return;
    case collective_call::all_reduce:
      words_.front() = n + me_;
      words_.back() = n + me_;
      return;
    case collective_call::all_to_all:
      for (std::uint64_t r = 0; r != ranks_; ++r) stamp(part(out_, r), stamp_of(n, me_, r));
      return;
  }
}

void collective_work::check(std::uint64_t n) {
  switch (which_) {
    case collective_call::barrier:
      return;
    case collective_call::broadcast:
      return check_stamp(in_[0], n);
    case collective_call::all_reduce: {
      const std::uint64_t sum = ranks_ * n + ranks_ * (ranks_ - 1) / 2;
      check_word(words_, 0, sum);
      return check_word(words_, words_.size() - 1, sum);
    }
    case collective_call::all_to_all:
      for (std::uint64_t r = 0; r != ranks_; ++r) check_stamp(part(in_, r), stamp_of(n, r, me_));
      return;
  }
}

/// Word j of rank r is (r + 1) (j + 1); a part is filled by the number of its stamp.
void collective_work::prepare_all(std::uint64_t n) noexcept {
  for (std::size_t j = 0; j != words_.size(); ++j) words_[j] = (me_ + 1) * (j + 1);
  if (which_ == collective_call::broadcast) fill(in_[0], me_ == n % ranks_ ? n + 1 : n);
  if (which_ == collective_call::all_to_all) {
    fill(in_[0], n);
    for (std::uint64_t r = 0; r != ranks_; ++r) fill(part(out_, r), stamp_of(n, me_, r) + 1);
  }
  prepare(n);
}

void collective_work::check_all(std::uint64_t n) {
  check(n);
  for (std::size_t j = 1; j + 1 < words_.size(); ++j)
    check_word(words_, j, ranks_ * (ranks_ + 1) / 2 * (j + 1));
  if (which_ == collective_call::broadcast) verify(in_[0], n + 1);
  if (which_ == collective_call::all_to_all)
    for (std::uint64_t r = 0; r != ranks_; ++r) verify(part(in_, r), stamp_of(n, r, me_) + 1);
}

}  // namespace weft::bench
