// SPDX-License-Identifier: Apache-2.0
// Coroutines alone, without a context.
#include <chrono>
#include <cstdio>

#include <weft/coro/local_loop.hpp>
#include <weft/coro/time.hpp>
#include <weft/coro/when.hpp>

weft::task<int> later(int n) {
  co_await weft::sleep_for(std::chrono::milliseconds(1));
  co_return n;
}

weft::task<int> both() {
  const auto [a, b] = co_await weft::when_all(later(1), later(2));
  co_return a + b;
}

int main() {
  weft::local_loop loop;
  const int sum = weft::run(loop, both());
  std::printf("%d\n", sum);
  return sum == 3 ? 0 : 1;
}
