// SPDX-License-Identifier: Apache-2.0
#include "scale/work.hpp"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

namespace scale {

namespace c = weft::collectives;
using weft::const_buffer;
using weft::mutable_buffer;
using weft::task;

namespace {

/// Adds words, and lets the rank's clock run meanwhile.
struct clocked_sum {
  fabric& way;
  peer_id rank;
  static void combine(const void* op, const std::byte* left, const std::byte* right, std::byte* out,
                      std::size_t elements) {
    const auto& self = *static_cast<const clocked_sum*>(op);
    const auto* const a = reinterpret_cast<const std::uint64_t*>(left);
    const auto* const b = reinterpret_cast<const std::uint64_t*>(right);
    auto* const sum = reinterpret_cast<std::uint64_t*>(out);
    for (std::size_t i = 0; i != elements; ++i) sum[i] = a[i] + b[i];
    self.way.compute(self.rank, elements * sizeof *sum);
  }
};

mutable_buffer writable(std::vector<std::uint64_t>& v) {
  return std::as_writable_bytes(std::span(v));
}
const_buffer readable(const std::vector<std::uint64_t>& v) { return std::as_bytes(std::span(v)); }

}  // namespace

std::size_t memory_of(const work& w, peer_id ranks) noexcept {
  const std::size_t n = ranks;
  switch (w.what) {
    case kind::all_gather:
      return n * n * w.bytes * 2;
    case kind::all_to_all:
      return n * n * w.bytes * 5;
    default:
      return n * w.bytes * 2;
  }
}

std::size_t messages_of(kind what, std::string_view how, peer_id ranks) noexcept {
  const auto logarithm = static_cast<std::size_t>(std::bit_width(ranks));
  if (how == "ring") return what == kind::all_reduce ? 2 * ranks : ranks;
  if (how == "pairwise" || how == "scatter_all_gather" || how == "linear") return ranks;
  if (how == "levels" && what == kind::all_to_all) return ranks;
  if (how == "levels_parts" && what == kind::broadcast) return ranks;
  return how == "rabenseifner" || how.starts_with("levels") ? 2 * logarithm : logarithm;
}

exercise::exercise(job& j, const work& w, peer_id root)
    : job_(j), work_(w), words_(w.bytes / sizeof(word)), root_(root), ranks_(j.size()) {
  const std::size_t n = j.size();
  for (peer_id r = 0; r != n; ++r) {
    buffers& b = ranks_[r];
    const std::size_t of_root = r == root_ ? n : 0;
    switch (w.what) {
      case kind::barrier:
        break;
      case kind::broadcast:
      case kind::all_reduce:
      case kind::scan:
        b.in.resize(words_);
        break;
      case kind::reduce:
        b.out.resize(words_);
        b.in.resize(r == root_ ? words_ : 0);
        break;
      case kind::gather:
        b.out.resize(words_);
        b.in.resize(words_ * of_root);
        break;
      case kind::scatter:
        b.out.resize(words_ * of_root);
        b.in.resize(words_);
        break;
      case kind::all_gather:
        b.out.resize(words_);
        b.in.resize(words_ * n);
        break;
      case kind::all_to_all:
        b.out.resize(words_ * n);
        b.in.resize(words_ * n);
        break;
    }
    b.sum = {sizeof(word), true, &clocked_sum::combine,
             std::make_shared<clocked_sum>(clocked_sum{j.way(), r})};
  }
}

/// What `from` has at place `i` of its part for `to`.
exercise::word exercise::value(peer_id from, peer_id to, std::size_t i) const noexcept {
  return (word{from} + 1) * (2 * i + 1) + word{to} * 1'000'003;
}

/// What `r` has to have at place `i` of its result.
exercise::word exercise::expected(peer_id r, std::size_t i) const noexcept {
  const word n = work_.what == kind::scan ? r + 1 : job_.size();
  switch (work_.what) {
    case kind::broadcast:
      return value(root_, 0, i);
    case kind::reduce:
    case kind::all_reduce:
    case kind::scan:
      return n * (n + 1) / 2 * (2 * i + 1);
    case kind::gather:
    case kind::all_gather:
      return value(static_cast<peer_id>(i / words_), 0, i % words_);
    case kind::scatter:
      return value(root_, r, i);
    case kind::all_to_all:
      return value(static_cast<peer_id>(i / words_), r, i % words_);
    default:
      return 0;
  }
}

/// `out`: the part for each rank behind that of the last one; or the same for all.
void exercise::fill() {
  const bool in_place = work_.what == kind::all_reduce || work_.what == kind::scan;
  for (peer_id r = 0; r != job_.size(); ++r) {
    buffers& b = ranks_[r];
    for (std::size_t i = 0; i != b.out.size(); ++i)
      b.out[i] = value(r, static_cast<peer_id>(i / words_), i % words_);
    const bool has_input = in_place || r == root_;
    for (std::size_t i = 0; i != b.in.size(); ++i) b.in[i] = has_input ? value(r, 0, i) : ~word{0};
  }
}

void exercise::check() const {
  if (work_.what == kind::barrier) return;
  for (peer_id r = 0; r != job_.size(); ++r)
    for (std::size_t i = 0; i != ranks_[r].in.size(); ++i)
      if (ranks_[r].in[i] != expected(r, i))
        throw std::runtime_error(fmt::format(
            "{} of {} bytes: rank {} of {} has {} at place {}, not {}", c::name_of(work_.what),
            work_.bytes, r, job_.size(), ranks_[r].in[i], i, expected(r, i)));
}

outcome exercise::run() {
  fill();
  const outcome o = job_.run([&](peer_id r) { return perform(r); });
  check();
  return o;
}

/// As an application calls it.
task<void> exercise::perform(peer_id r) {
  namespace d = weft::detail;
  buffers& b = ranks_[r];
  const d::communicator_ptr& of = job_.group(r);
  const const_buffer out = readable(b.out);
  const mutable_buffer in = writable(b.in);
  switch (work_.what) {
    case kind::broadcast:
      return d::broadcast(of, in, root_);
    case kind::reduce:
      return d::reduce(of, out, in, b.sum, root_);
    case kind::all_reduce:
      return d::all_reduce(of, in, b.sum);
    case kind::scan:
      return d::scan(of, in, b.sum);
    case kind::gather:
      return d::gather(of, out, in, root_);
    case kind::scatter:
      return d::scatter(of, out, in, root_);
    case kind::all_gather:
      return d::all_gather(of, out, in);
    case kind::all_to_all:
      return d::all_to_all(of, out, in);
    default:
      return d::barrier(of);
  }
}

}  // namespace scale
