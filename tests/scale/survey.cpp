// SPDX-License-Identifier: Apache-2.0
#include "scale/survey.hpp"

#include "collectives/algorithm.hpp"

namespace scale {

std::vector<work> wishes::usual_works() {
  constexpr std::size_t word = 8, page = 4 << 10, large = 1 << 20;
  return {{kind::barrier, 0},        {kind::broadcast, word},  {kind::broadcast, page},
          {kind::broadcast, large},  {kind::reduce, word},     {kind::reduce, page},
          {kind::reduce, large},     {kind::all_reduce, word}, {kind::all_reduce, page},
          {kind::all_reduce, large}, {kind::gather, word},     {kind::gather, page},
          {kind::scatter, word},     {kind::scatter, page},    {kind::all_gather, word},
          {kind::all_gather, page},  {kind::all_to_all, word}, {kind::all_to_all, page},
          {kind::scan, word},        {kind::scan, page}};
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
      const weft::collectives::group_shape shape = w.machine.shape(ranks);
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
