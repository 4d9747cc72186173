// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>

#include "honest.hpp"

namespace hostile {

using namespace weft;

namespace {

void must_be(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
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

task<void> serve_large(context& ctx, endpoint to) {
  bytes memory(region_bytes), in(longest_large + 1);
  region shown(ctx, memory, rights::read_write);
  const remote_region key = shown.remote();
  co_await to.send(std::as_bytes(std::span(&key, 1)), tag_key);
  for (std::uint64_t n = 0;; ++n) {
    const received got = co_await to.recv(in, tag_large);
    const std::size_t size = large_size(n);
    must_be(got.size == size && tests::same(std::span(in).first(size), pattern(size, n)),
            "a large message of an honest peer came disturbed");
    const std::size_t answer = large_size(n + 1);
    co_await to.send(pattern(answer, n + 1), tag_large, n);
  }
}

}  // namespace hostile
