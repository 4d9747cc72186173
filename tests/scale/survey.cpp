// SPDX-License-Identifier: Apache-2.0
#include "scale/survey.hpp"

#include "collectives/algorithm.hpp"

namespace scale {

std::vector<work> wishes::usual_works() {
  return {{kind::barrier, 0},          {kind::broadcast, 8},  {kind::broadcast, 4 << 10},
          {kind::broadcast, 1 << 20},  {kind::all_reduce, 8}, {kind::all_reduce, 4 << 10},
          {kind::all_reduce, 1 << 20}, {kind::all_gather, 8}, {kind::all_to_all, 8}};
}

namespace {

finding measure(const wishes& w, const work& what, peer_id ranks,
                const weft::collectives::candidate& by, bool chosen) {
  weft::collectives::forced_choices asked{};
  const auto table = weft::collectives::table_of(what.what).algorithms;
  asked[static_cast<std::size_t>(what.what)] = static_cast<std::uint8_t>(by.how - table.data() + 1);
  job all(w.machine, ranks, chosen ? weft::collectives::forced_choices{} : asked);
  exercise data(all, what);
  all.begin_to_know();
  finding f{
      what, ranks, by.how->name, chosen, by.microseconds, {}, bound_of(what, w.machine, ranks), {}};
  data.run();
  f.known = all.known();
  f.cost = data.run();
  return f;
}

}  // namespace

void survey(const wishes& w, const std::function<void(const finding&)>& found) {
  for (const work& what : w.works)
    for (const peer_id ranks : w.ranks) {
      if (memory_of(what, ranks) > w.most_memory) continue;
      // Simulated ranks share no memory.
      const weft::collectives::group_shape shape{
          ranks, ranks <= w.machine.places.per_host(), {}, false};
      bool chosen = true;  // the first one
      for (const auto& by : weft::collectives::candidates({what.what, what.bytes}, shape)) {
        if (by.unfit) continue;
        const bool too_long = messages_of(what.what, by.how->name, ranks) * ranks > w.most_messages;
        if (chosen || (w.all_algorithms && !too_long)) found(measure(w, what, ranks, by, chosen));
        chosen = false;
      }
    }
}

}  // namespace scale
