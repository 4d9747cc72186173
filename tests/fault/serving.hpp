// SPDX-License-Identifier: Apache-2.0
// Shared by the test of calls that are cut off and its program: handlers that never answer, and
// calls of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace fault::serving {

using weft::am;
using weft::endpoint;
using weft::errc;

inline constexpr am waits{1}, takes_body{2}, gives_values{3}, how_many{4}, began{5};
inline constexpr std::size_t body_size = std::size_t{64} << 20;

/// Handlers of one side.
class slow_service {
 public:
  explicit slow_service(weft::context& here)
      : all_{here.on(waits, [this](weft::call c) { return hold(c, 0); }),
             here.on(takes_body, [this](weft::call c) { return hold(c, body_size); }),
             here.on<weft::async_generator<int>()>(gives_values, [this] { return values(); }),
             here.on<int()>(how_many, [this] { return running; })} {}

  int begun = 0;    ///< calls so far
  int running = 0;  ///< of these, calls whose handlers have not ended

 private:
  struct note {
    explicit note(slow_service* s) : of(s) {
      ++of->begun;
      ++of->running;
    }
    ~note() { --of->running; }
    slow_service* of;
  };

  weft::task<void> hold(weft::call c, std::size_t room) {
    const note here(this);
    std::vector<std::byte> body(room);
    co_await c.from().post(began);
    if (room != 0) co_await c.recv(body);
    co_await weft::sleep_for(std::chrono::hours(1));
  }
  weft::async_generator<int> values() {
    const note here(this);
    for (int i = 0;; ++i) co_yield i;
  }

  weft::handler all_[4];
};

/// Three calls, and how each of them ends.
struct three_calls {
  errc wait{}, body{}, values{};
  int values_read = 0;
};

inline weft::task<void> call_and_wait(endpoint there, errc& how) {
  const auto r = co_await weft::as_result(there.call<void>(waits));
  how = r.code();
}
inline weft::task<void> call_with_body(endpoint there, errc& how) {
  const std::vector<std::byte> data(body_size);
  std::byte reply{};
  const auto r =
      co_await weft::as_result(there.call(takes_body, data, weft::mutable_buffer(&reply, 1)));
  how = r.code();
}
/// Reads slowly, so that values are on their way.
inline weft::task<void> read_values(endpoint there, three_calls& of) {
  weft::async_generator<int> all = there.call_stream<int>(gives_values);
  for (;;) {
    const auto r = co_await weft::as_result(all.next());
    of.values = r.code();
    if (of.values != errc::ok) break;
    ++of.values_read;
    co_await weft::sleep_for(std::chrono::milliseconds(1));
  }
}

inline weft::task<void> make_calls(endpoint there, three_calls& of) {
  weft::scope all;
  all.start(call_and_wait(there, of.wait));
  all.start(call_with_body(there, of.body));
  all.start(read_values(there, of));
  co_await all.join();
}

}  // namespace fault::serving
