// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <utility>

#include "honest.hpp"

namespace hostile {

using namespace weft;

namespace {

void must_be(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

/// Empty: there is no room.
loan<std::byte> loan_of(context& ctx, const bytes& what) try {
  loan<std::byte> made = ctx.make_loan<std::byte>(what.size());
  std::copy(what.begin(), what.end(), made.begin());
  return made;
} catch (const error& e) {
  if (e.kind() != errc::out_of_memory) throw;
  return {};
}

}  // namespace

task<void> serve_small(context& ctx, endpoint to) {
  bytes in(longest_small + 8);
  const group both = group::of(ctx, {endpoint(), to}, 0, honest_group);
  for (std::uint64_t n = 0;; ++n) {
    const received got = co_await to.recv(in, tag_small);
    const std::size_t size = small_size(n);
    must_be(got.size == size && tests::same(std::span(in).first(size), pattern(size, n)),
            "a small message of an honest peer came disturbed");
    co_await to.send(std::span(in).first(size), tag_small, n);
    if ((n + 1) % burst != 0) continue;
    const std::uint64_t sum = co_await both.all_reduce(n);
    must_be(sum == 2 * n, "a sum with an honest peer is wrong");
  }
}

task<void> send_large(context& ctx, endpoint to, std::uint64_t n) {
  const bytes out = pattern(large_size(n), n);
  loan<std::byte> lent = goes_as_loan(n) ? loan_of(ctx, out) : loan<std::byte>();
  if (lent.size() == 0)
    co_await to.send(out, tag_large, n);
  else
    co_await to.send_loan(tag_large, std::move(lent), n);
}

task<std::size_t> receive_large(endpoint from, std::uint64_t n, bytes& in) {
  if (goes_as_loan(n)) {
    const lent<std::byte> got = co_await from.recv_loan<std::byte>(tag_large);
    std::copy_n(got.begin(), std::min(got.size(), in.size()), in.begin());
    co_return got.size();
  }
  const received got = co_await from.recv(in, tag_large);
  co_return got.size;
}

task<void> serve_large(context& ctx, endpoint to) {
  bytes memory(region_bytes), in(longest_large + 1);
  region shown(ctx, memory, rights::read_write);
  const remote_region key = shown.remote();
  co_await to.send(std::as_bytes(std::span(&key, 1)), tag_key);
  for (std::uint64_t n = 0;; ++n) {
    const std::size_t got = co_await receive_large(to, n, in), size = large_size(n);
    must_be(got == size && tests::same(std::span(in).first(size), pattern(size, n)),
            "a large message of an honest peer came disturbed");
    co_await send_large(ctx, to, n + 1);
  }
}

}  // namespace hostile
