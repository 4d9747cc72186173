// SPDX-License-Identifier: Apache-2.0
#include "scale/work.hpp"

#include <fmt/format.h>

#include <bit>
#include <stdexcept>

namespace scale {

namespace c = weft::collectives;
using c::collective;
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

task<void> refuse() {
  throw std::invalid_argument("there is no such algorithm for this collective");
  co_return;
}

}  // namespace

algorithm choice_of(const work& w, const job& j) {
  return c::choose({w.what, w.bytes}, j.group(0)->shape());
}

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

std::size_t messages_of(kind what, algorithm how, peer_id ranks) noexcept {
  const auto logarithm = static_cast<std::size_t>(std::bit_width(ranks));
  switch (how) {
    case algorithm::ring:
      return what == kind::all_reduce ? 2 * ranks : ranks;
    case algorithm::pairwise:
    case algorithm::scatter_all_gather:
      return ranks;
    case algorithm::rabenseifner:
      return 2 * logarithm;
    default:
      return logarithm;
  }
}

exercise::exercise(job& j, const work& w)
    : job_(j), work_(w), words_(w.bytes / sizeof(word)), ranks_(j.size()) {
  const std::size_t n = j.size();
  for (peer_id r = 0; r != n; ++r) {
    buffers& b = ranks_[r];
    if (w.what == kind::all_gather) b.out.resize(words_);
    if (w.what == kind::all_to_all) b.out.resize(words_ * n);
    if (w.what == kind::all_gather || w.what == kind::all_to_all)
      b.in.resize(words_ * n);
    else
      b.in.resize(words_);
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
  const word n = job_.size();
  switch (work_.what) {
    case kind::broadcast:
      return value(0, 0, i);
    case kind::all_reduce:
      return n * (n + 1) / 2 * (2 * i + 1);
    case kind::all_gather:
      return value(static_cast<peer_id>(i / words_), 0, i % words_);
    case kind::all_to_all:
      return value(static_cast<peer_id>(i / words_), r, i % words_);
    default:
      return 0;
  }
}

void exercise::fill() {
  for (peer_id r = 0; r != job_.size(); ++r) {
    buffers& b = ranks_[r];
    for (std::size_t i = 0; i != b.out.size(); ++i)
      b.out[i] = value(r, static_cast<peer_id>(i / words_), i % words_);
    const bool has_input = work_.what == kind::all_reduce || r == 0;
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

outcome exercise::run(algorithm how) {
  fill();
  const bool by_choice = how == choice_of(work_, job_);
  const outcome o = job_.run([&](peer_id r) { return by_choice ? chosen(r) : forced(r, how); });
  check();
  return o;
}

/// As an application calls it.
task<void> exercise::chosen(peer_id r) {
  buffers& b = ranks_[r];
  const weft::detail::communicator_ptr& of = job_.group(r);
  switch (work_.what) {
    case kind::barrier:
      return weft::detail::barrier(of);
    case kind::broadcast:
      return weft::detail::broadcast(of, writable(b.in), 0);
    case kind::all_reduce:
      return weft::detail::all_reduce(of, writable(b.in), b.sum);
    case kind::all_gather:
      return weft::detail::all_gather(of, readable(b.out), writable(b.in));
    case kind::all_to_all:
      return weft::detail::all_to_all(of, readable(b.out), writable(b.in));
    default:
      return refuse();
  }
}

task<void> exercise::forced(peer_id r, algorithm how) {
  const c::collective_call made{work_.what, how, 0, work_.bytes};
  if (how == algorithm::recursive_doubling)
    return c::all_reduce_doubling(job_.group(r), made, writable(ranks_[r].in), ranks_[r].sum);
  return c::run(job_.group(r), made, [this, r, how](const collective& on) {
    buffers& b = ranks_[r];
    const mutable_buffer in = writable(b.in);
    const const_buffer out = readable(b.out);
    switch (work_.what) {
      case kind::broadcast:
        if (how == algorithm::binomial) return c::broadcast_binomial(on, in, 0);
        if (how == algorithm::chain) return c::broadcast_chain(on, in, 0);
        return c::broadcast_scatter_all_gather(on, in, 0);
      case kind::all_reduce:
        if (how == algorithm::ring) return c::all_reduce_ring(on, in, b.sum);
        return c::all_reduce_rabenseifner(on, in, b.sum);
      case kind::all_gather:
        if (how == algorithm::bruck) return c::all_gather_bruck(on, out, in);
        c::copy(out, in.subspan(r * out.size(), out.size()));
        return c::all_gather_ring(on, in, c::division(in.size(), out.size(), job_.size()));
      case kind::all_to_all: {
        if (how == algorithm::bruck) return c::all_to_all_bruck(on, out, in);
        const weft::detail::byte_counts parts(job_.size(), work_.bytes);
        return c::all_to_all_pairwise(on, out, parts, in, parts);
      }
      default:
        return refuse();
    }
  });
}

}  // namespace scale
