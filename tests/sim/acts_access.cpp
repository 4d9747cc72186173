// SPDX-License-Identifier: Apache-2.0
// Access to the memory of another rank, which may end in the middle of it.
#include <array>

#include "sim/acts.hpp"
#include "sim/pace.hpp"
#include "sim/shared_memory.hpp"

namespace sim {

namespace {

using memory = std::shared_ptr<shared_memory>;

task<void> hear(rank& r, memory m) {
  for (;;) {
    const auto told = co_await as_result(r.hear(m));
    if (!told) co_return;
  }
}

task<void> own(rank& r, memory m, nanoseconds how_long) {
  r.host(m);
  weft::task_environment& here = co_await weft::current_environment();
  scope s(here);
  s.start(hear(r, m));
  static_cast<void>(co_await as_result(weft::sleep_for(how_long)));
  static_cast<void>(co_await as_result(r.end_of(m)));
  static_cast<void>(co_await as_result(s.join()));
}

task<void> reach(rank& r, node owner, memory m, pace t) {
  for (int tries = 0; m->key == 0; ++tries) {
    if (tries == 50) co_return;
    static_cast<void>(co_await as_result(weft::sleep_for(5us)));
  }
  co_await perform_all(t, [&r, owner, &m, t](unsigned i) {
    switch (m->use_of(i)) {
      case use::get:
        return perform(r.get(owner, m, i), t, i);
      case use::add:
        return perform(r.add(owner, m, i), t, i);
      default:
        return perform(r.put(owner, m, i), t, i);
    }
  });
}

constexpr std::array<std::size_t, 6> sizes{8, 64, 700, 5000, 20'000, 90'000};

}  // namespace

void stage_access(job& j, const act& a) {
  dice d = a.chance;
  pace t = throw_pace(d);
  const std::size_t longest = d.one_of(sizes);
  t.count = throw_count(j, d, longest);
  weft::region_name name;
  if (d.percent(30)) name = {a.number + 1, 1 + d.below(100'000)};
  const auto m = std::make_shared<shared_memory>(d.part(2), t.count, longest, name);
  m->open_to_all = a.first == j.plan().hostile || a.second == j.plan().hostile;
  // The hostile rank has no region, but other ranks may still ask for one.
  if (a.second == j.plan().hostile) m->key = std::uint64_t{a.number + 1} << 32;
  const nanoseconds how_long = d.percent(40) ? d.up_to(200us) : nanoseconds(10ms);
  j.when_there(a.first, a.when,
               [m, t, owner = a.second](rank& r) { r.play(reach(r, owner, m, t)); });
  j.when_there(a.second, a.when, [&j, m, how_long, open = m->open_to_all](rank& r) {
    r.play(own(r, m, how_long));
    if (open) j.knows(r.number(), m);
  });
}

}  // namespace sim
