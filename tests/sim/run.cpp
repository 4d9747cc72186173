// SPDX-License-Identifier: Apache-2.0
#include "sim/run.hpp"

#include "sim/acts.hpp"
#include "sim/plants.hpp"
#include "support/allocations.hpp"

namespace sim {

namespace {

constexpr std::uint64_t stops_first = 302;  // part of the plan's dice

verdict play(const scenario& p, const planted& fault, std::FILE* trace) {
  log history(trace);
  ledger book(history, fault.ends_twice());
  verdict v;
  {
    job j(p, history, book);
    fault.put_into(j.world());
    for (const act& a : p.acts) {
      history.event("act {} is of weight {}, with ranks {} and {}", a.number, a.kind->weight,
                    a.first, a.second);
      a.kind->stage(j, a);
    }
    // A violation ends a run: later events would only hide it.
    if (j.run()) {
      j.judge_rest();
      // Half of the runs end with the hostile rank there: it keeps no operation from being stopped.
      if (p.hostile && p.chance.part(stops_first).percent(50)) {
        j.stop_everybody();
        j.run();
        j.judge_stopped();
      }
      if (j.end_hostile() && j.run()) j.judge_rest();
      j.stop_everybody();
      j.run();
    }
    j.end_everybody();
    v.frames = j.frames();
    v.most_work = j.most_work();
    v.virtual_time = j.world().elapsed();
  }
  book.at_end();
  v.violations = history.take_violations();
  v.fingerprint = history.fingerprint();
  v.events = history.events();
  v.messages = book.messages();
  v.delivered = book.delivered();
  return v;
}

}  // namespace

verdict run(const wishes& w, std::FILE* trace) {
  const scenario p = make_plan(w);
  const planted fault(w.plant, p.chance);
  const std::size_t before = weft::tests::allocations_alive();
  verdict v = play(p, fault, trace);
  const std::size_t left = weft::tests::allocations_alive() - before;
  if (v.good() && left != 0)
    v.violations.push_back(fmt::format("{} allocations are left at the end", left));
  return v;
}

}  // namespace sim
