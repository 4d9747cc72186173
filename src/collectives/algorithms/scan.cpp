// SPDX-License-Identifier: Apache-2.0
#include "collectives/algorithms/parts.hpp"
#include "collectives/flags/steps.hpp"

namespace weft::collectives {

namespace {

/// In step k a rank has the reduction of the 2^k ranks up to its own (Hillis, Steele 1986).
task<void> scan_doubling(collective c, const arguments& with) {
  const mutable_buffer data = with.out;
  const peer_id me = c.rank(), n = c.size();
  scratch theirs(data.size());
  for (std::uint64_t d = 1; d < n; d *= 2) {
    const bool gives = me + d < n, takes = me >= d;
    const auto to = static_cast<peer_id>(me + d), from = static_cast<peer_id>(me - d);
    if (gives && takes)
      co_await together(c, c.recv(from, theirs.all()), c.send(to, data));
    else if (gives)
      co_await together(c, c.send(to, data));
    else if (takes)
      co_await together(c, c.recv(from, theirs.all()));
    if (takes) with.how(theirs.all(), data, data.data());
  }
}

/// One part of all operands, which this rank scans: those of other ranks go there and back.
class scanned_part {
 public:
  /// \param c its members have an operand each
  scanned_part(const collective& c, mutable_buffer data, const reduction& how)
      : n_(c.size()),
        data_(data),
        how_(how),
        block_((data.size() / how.element + c.size() - 1) / c.size() * how.element),
        size_(std::min(block_, data.size() - std::min(data.size(), c.rank() * block_))),
        given_(n_ * block_),
        taken_(n_ * block_),
        there_{.in = given_.all(), .out = taken_.all()},
        back_{.in = taken_.all(), .out = given_.all()},
        collecting_(c, kind::all_to_all, block_, there_),
        distributing_(c, kind::all_to_all, block_, back_) {}

  task<void> collect() {
    copy(data_, given_.part(0, data_.size()));
    const mutable_buffer rest = given_.all().subspan(data_.size());
    std::memset(rest.data(), 0, rest.size());
    co_await collecting_.perform();
    for (peer_id r = 1; r != n_; ++r) how_(of(r - 1), of(r), of(r).data());
  }
  task<void> distribute() {
    co_await distributing_.perform();
    copy(given_.part(0, data_.size()), data_);
  }
  /// After `collect`: the reduction of this part up to that rank.
  mutable_buffer of(peer_id rank) noexcept { return taken_.part(rank * block_, size_); }
  std::size_t size() const noexcept { return size_; }
  /// What comes before all of them.
  void follow(const_buffer before) {
    for (peer_id r = 0; r != n_; ++r) how_(before, of(r), of(r).data());
  }

 private:
  const peer_id n_;
  const mutable_buffer data_;
  const reduction& how_;
  const std::size_t block_, size_;
  scratch given_, taken_;
  const arguments there_, back_;
  part_of_collective collecting_, distributing_;
};

task<void> scan_parts(collective c, const arguments& with) {
  scanned_part part(c, with.out, with.how);
  co_await part.collect();
  co_await part.distribute();
}

/// In parts in each host; then each slice scans what its hosts have.
task<void> scan_levels(collective c, const arguments& with) {
  const collective slice = c.in_slice(collective::turn::before_others);
  scanned_part part(c.in_host(collective::turn::last), with.out, with.how);
  co_await part.collect();
  if (const std::size_t bytes = part.size(); bytes != 0) {
    scratch up_to_host(bytes), before(bytes);
    copy(part.of(c.shape().per_host - 1), up_to_host.all());
    const arguments totals{.out = up_to_host.all(), .how = with.how};
    part_of_collective of_slice(slice, kind::scan, bytes, totals);
    co_await of_slice.perform();
    const peer_id host = slice.rank();
    const bool gives = host + 1 != slice.size(), takes = host != 0;
    if (gives && takes)
      co_await together(slice, slice.recv(host - 1, before.all()),
                        slice.send(host + 1, up_to_host.all()));
    else if (gives)
      co_await together(slice, slice.send(host + 1, up_to_host.all()));
    else
      co_await together(slice, slice.recv(host - 1, before.all()));
    if (takes) part.follow(before.all());
  }
  co_await part.distribute();
}

const char* unfit_for_scan_parts(const collective_size& c, const group_shape& g) {
  if (g.ranks < 2) return "there is no other rank";
  return c.bytes < 8 * std::uint64_t{g.ranks} ? "fewer than 8 bytes for each rank" : nullptr;
}

constexpr algorithm scan_algorithms[] = {
    {"recursive_doubling", [](const terms& t) { return t.exchanges(t.m) + t.log_n * t.m * t.c; },
     serves_always, in_frame<scan_doubling>, scan_doubling},
    {"flags",
     [](const terms& t) { return t.rounds(t.m) * t.flags() + t.m * t.f + (t.n - 1) * t.m * t.c; },
     unfit_for_flags, by_flags<scan_by_flags>, nullptr, &scan_by_flags},
    // Each rank scans a part of all operands, in new memory of their size, twice.
    {"parts",
     [](const terms& t) {
       const collective_size part{kind::all_to_all, static_cast<std::uint64_t>(t.m / t.n)};
       return 2 * (cost_of_part(part, t.group) + t.m * t.f) + t.m * t.c;
     },
     unfit_for_scan_parts, in_frame<scan_parts>, scan_parts},
    {"levels_parts",
     [](const terms& t) {
       const cost_of_levels of(t);
       const double part = t.m / of.p();
       return 2 * of.in_host(kind::all_to_all, part) + 2 * t.m * t.c +
              of.in_slice(kind::scan, part) + t.a + part * t.b * t.crowd;
     },
     unfit_for_shares, in_frame<scan_levels>}};

}  // namespace

constinit const collective_table scan_table{"scan", {}, scan_algorithms};

}  // namespace weft::collectives

namespace weft {

using namespace collectives;

task<void> detail::scan(communicator_ptr of, mutable_buffer data, reduction how) {
  const collective_size size{kind::scan, data.size(), how.commutative, how.element};
  const std::uint16_t name = how.name;
  return perform(scan_algorithms, std::move(of), size,
                 {.in = data, .out = data, .how = std::move(how)}, name);
}

}  // namespace weft
