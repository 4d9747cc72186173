// SPDX-License-Identifier: Apache-2.0
// How a conversation performs its operations: how many there are, whether one after the other or at
// once, and which of them have deadlines.
#pragma once

#include <weft/weft.hpp>

#include <algorithm>

#include "sim/job.hpp"

namespace sim {

using namespace std::chrono_literals;
using weft::as_result;
using weft::scope;
using weft::task;

struct pace {
  dice chance;
  unsigned count;
  bool often_late;  ///< operations have deadlines
  bool at_once;     ///< several are under way at the same time
};

inline pace throw_pace(dice& d) {
  const dice own = d.part(1);
  const bool often_late = d.percent(25), at_once = d.percent(60);
  return {own, 0, often_late, at_once};
}

/// \param longest bytes of the longest operation
inline unsigned throw_count(const job& j, dice& d, std::size_t longest) {
  const std::uint64_t most = longest > 50'000 ? 3 : longest > 5000 ? 8 : 40;
  const auto count = static_cast<unsigned>(d.between(1, most));
  return std::min(count, j.plan().wanted.messages.value_or(count));
}

/// Awaits one operation, some of the time under a deadline or a stop that comes soon.
template <class Operation>
task<void> perform(Operation op, const pace& t, unsigned i) {
  dice d = t.chance.part(2000 + i);
  if (!t.often_late || d.percent(50)) {
    static_cast<void>(co_await as_result(op));
  } else if (d.percent(50)) {
    static_cast<void>(co_await as_result(weft::within(d.up_to(100us), op)));
  } else {
    std::stop_source stop;
    weft::task_environment& here = co_await weft::current_environment();
    scope s(here);
    s.start(as_result(weft::stoppable(stop.get_token(), op)));
    static_cast<void>(co_await as_result(weft::sleep_for(d.up_to(20us))));
    stop.request_stop();
    static_cast<void>(co_await as_result(s.join()));
  }
}

/// Does `act(i)`, a task, for 0 .. count-1, one after the other or several at a time.
template <class Act>
task<void> perform_all(pace t, Act act) {
  dice d = t.chance.part(3);
  weft::task_environment& here = co_await weft::current_environment();
  scope fly(here);
  for (unsigned i = 0; i < t.count; ++i) {
    if (t.at_once)
      fly.start(act(i));
    else
      co_await act(i);
    if (d.percent(20)) static_cast<void>(co_await as_result(weft::sleep_for(d.up_to(20us))));
  }
  static_cast<void>(co_await as_result(fly.join()));
}

}  // namespace sim
