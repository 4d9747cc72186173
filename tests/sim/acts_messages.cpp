// SPDX-License-Identifier: Apache-2.0
// Conversations. Both ends throw the same dice where they must agree, and may disagree on the
// number of messages: the remaining operations are stopped at the end of the run.
#include <algorithm>
#include <array>

#include "sim/acts.hpp"
#include "sim/pace.hpp"

namespace sim {

namespace {

/// The data that the two ends of a conversation share.
struct topic : pace {
  std::uint64_t first_tag;  ///< messages have it, or it and the numbers after it
  weft::tag_mask any;
  bool numbered;                     ///< each message has a tag of its own
  std::array<std::size_t, 2> sizes;  ///< from, to

  std::uint64_t tag(unsigned i) const noexcept { return first_tag + (numbered ? i : 0); }

  /// Empty messages of one tag could not be told apart.
  std::size_t size(unsigned i) const noexcept {
    dice d = chance.part(1000 + i);
    return std::max<std::size_t>(d.between(sizes[0], sizes[1]), numbered ? 0 : 1);
  }
};

constexpr std::array<std::array<std::size_t, 2>, 6> size_ranges{
    {{0, 64}, {0, 64}, {40, 700}, {0, 5000}, {3000, 20'000}, {50'000, 90'000}}};

topic throw_topic(const job& j, const act& a, dice d) {
  topic t{throw_pace(d), tag_of(a, 0), any_of(a), d.percent(50), {}};
  t.sizes = d.one_of(size_ranges);
  t.count = throw_count(j, d, t.sizes[1]);
  return t;
}

task<void> speak(rank& r, node to, topic t) {
  return perform_all(t, [&r, to, t](unsigned i) {
    dice d = t.chance.part(4000 + i);
    return perform(r.send(to, t.tag(i), t.size(i), d.percent(20)), t, i);
  });
}

/// \param from nothing: any source
task<void> listen(rank& r, std::optional<node> from, topic t) {
  dice d = t.chance.part(5 + r.number());
  const unsigned chance_of_any = d.percent(50) ? 30 : 0;
  const std::size_t room = t.sizes[1];
  if (d.percent(20)) co_await perform(r.probe(from, t.any), t, 0);
  co_await perform_all(t, [&r, from, t, room, chance_of_any](unsigned i) {
    dice own = t.chance.part(6000 + i);
    const bool any = !from || own.percent(chance_of_any);
    const std::size_t least = std::min<std::size_t>(room, 1);
    const std::size_t mine = own.percent(10) ? own.between(least, room) : room;
    return perform(r.receive(from, any ? t.any : weft::tag_mask(weft::tag{t.tag(i)}), mine), t, i);
  });
}

/// One end sends, the other receives.
void stage_half(job& j, const act& a, node from, node to, const topic& t) {
  dice d = t.chance.part(7);
  j.when_there(from, a.when + d.up_to(30us), [to, t](rank& r) { r.play(speak(r, to, t)); });
  j.when_there(to, a.when + d.up_to(d.percent(30) ? 300us : 30us),
               [from, t](rank& r) { r.play(listen(r, from, t)); });
}

}  // namespace

void stage_talk(job& j, const act& a) {
  stage_half(j, a, a.first, a.second, throw_topic(j, a, a.chance));
}

/// Both ways at once.
void stage_exchange(job& j, const act& a) {
  const topic t = throw_topic(j, a, a.chance);
  stage_half(j, a, a.first, a.second, t);
  stage_half(j, a, a.second, a.first, t);
}

/// All participants send to one rank, which receives from any source.
void stage_gather(job& j, const act& a) {
  topic t = throw_topic(j, a, a.chance);
  unsigned speakers = 0;
  for (node n = 0; n < j.plan().ranks.size(); ++n) {
    if (n == a.first || !j.plan().takes_part(n)) continue;
    ++speakers;
    const node to = a.first;
    j.when_there(n, a.when + t.chance.part(n).up_to(50us),
                 [to, t](rank& r) { r.play(speak(r, to, t)); });
  }
  t.count *= speakers;
  j.when_there(a.first, a.when, [t](rank& r) { r.play(listen(r, std::nullopt, t)); });
}

namespace {

task<void> race(rank& r, node from, topic t) {
  const std::size_t room = t.sizes[1];
  for (unsigned i = 0; i < t.count; ++i) {
    auto both =
        weft::when_any(r.receive(from, {weft::tag{t.tag(i)}}, room), r.receive(from, t.any, room));
    static_cast<void>(co_await as_result(std::move(both)));
  }
}

}  // namespace

/// Two receives wait for the same message; the one that does not get it is stopped, or takes the
/// next one.
void stage_race(job& j, const act& a) {
  const topic t = throw_topic(j, a, a.chance);
  j.when_there(a.first, a.when, [t, to = a.second](rank& r) { r.play(speak(r, to, t)); });
  j.when_there(a.second, a.when, [t, from = a.first](rank& r) { r.play(race(r, from, t)); });
}

}  // namespace sim
