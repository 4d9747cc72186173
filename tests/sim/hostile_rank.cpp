// SPDX-License-Identifier: Apache-2.0
#include "sim/hostile_rank.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "sim/acts.hpp"
#include "transports/fake/factory.hpp"

namespace sim {

using weft::proto::frame_kind;
using weft::runtime::engine;
using weft::tests::hostile_frame;
using weft::transports::post;

namespace {

// Larger than any message of an honest rank, so that the hostile rank can read and write all of it.
constexpr std::size_t memory_size = 128 * 1024;

/// The hostile rank itself never lacks room.
fake::manner in_a_hurry(fake::manner m) {
  m.room = 64;
  m.shortest_way = nanoseconds(100);
  m.longest_way = nanoseconds(500);
  m.memory = fake::memory::readable;
  m.failing = 0;
  return m;
}

/// A whole frame in one block, as multi-rail links send frames that must keep their order.
std::vector<std::byte> block_of(const hostile_frame& f) {
  const std::size_t head = sizeof f.header + weft::transports::extension_size(f.header);
  std::vector<std::byte> block(head + f.header.size);
  std::memcpy(block.data(), &f.header, sizeof f.header);
  std::memcpy(block.data() + sizeof f.header, &f.extension, head - sizeof f.header);
  return block;
}

}  // namespace

/// Takes the frames of one link.
struct hostile_rank::ear final : weft::transports::frame_sink {
  ear(victim& v, std::size_t number, bool several) noexcept
      : whose(v), lane(number), is_lane(several) {}

  bool on_frame(const weft::transports::frame_header& h, const weft::transports::frame_extension* x,
                const std::byte* payload) noexcept override {
    if (!is_lane) {
      whose.talk.heard(h, x);
      return true;
    }
    ++whose.talk.received[lane];
    if (x || h.size < sizeof h) return true;
    hostile_frame inner;
    std::memcpy(&inner.header, payload, sizeof inner.header);
    std::memcpy(&inner.extension, payload + sizeof inner.header,
                weft::transports::extension_size(inner.header));
    whose.talk.heard(inner.header, inner.extra());
    return true;
  }
  void on_writable() noexcept override {}
  void on_broken(errc) noexcept override {}

  victim& whose;
  const std::size_t lane;
  const bool is_lane;
};

hostile_rank::hostile_rank(fake::world& w, node number, const scenario& p, log& l)
    : world_(w),
      number_(number),
      plan_(p),
      log_(l),
      engine_(weft::progress_mode::polling, {}, "epoll", &w),
      memory_(memory_size, std::byte{0x66}),
      parts_{weft::const_buffer(memory_)},
      into_{weft::mutable_buffer(memory_)} {
  for (const fake::manner& how : p.transports) {
    ways_.push_back(fake::make(w, number, engine_, in_a_hurry(how)));
    engine_.add(*ways_.back()->poll_hook());
  }
  world_.tamper = [this](fake::wire& on) {
    if (on.from == number_ && stops_after_ && !on.frames.back().payload.empty())
      on.frames.back().stops_after = *std::exchange(stops_after_, std::nullopt);
  };
}

hostile_rank::~hostile_rank() {
  const engine::holder hold(engine_);
  victims_.clear();
}

hostile_rank::victim& hostile_rank::of(node n) {
  std::unique_ptr<victim>& v = victims_[n];
  if (v) return *v;
  std::uint32_t most = ~0u;
  for (const fake::manner& m : plan_.transports) most = std::min(most, m.max_payload);
  const bool several = plan_.wanted.many_links;
  v.reset(new victim{weft::tests::hostile_frames(several ? most / 2 : most), {}, {}, {}});
  for (std::size_t i = 0; i < ways_.size(); ++i)
    v->ears.push_back(std::make_unique<ear>(*v, i, several));
  if (several) v->talk.received.resize(ways_.size());
  // The answers for which honest ranks wait.
  for (const act& a : plan_.acts) {
    for (std::uint64_t i = 0; i < 8; ++i) v->talk.tags.push_back(tag_of(a, i));
    if (a.kind->stage == &stage_calls) v->talk.handlers.push_back(handler_of(a));
    if (a.kind->stage == &stage_collectives) v->talk.groups.push_back(group_of(a));
  }
  return *v;
}

weft::transports::frame_sink& hostile_rank::frame_sink(node from, std::size_t way) {
  return *of(from).ears[way];
}

bool hostile_rank::keeps_silent(node from) const {
  return plan_.chance.part(301).part(from).percent(10);
}

std::uint32_t hostile_rank::grants(node from) {
  static constexpr std::array<std::uint32_t, 5> windows{0, 1, 40, 5000, 1u << 30};
  return plan_.chance.part(300).part(from).one_of(windows);
}

void hostile_rank::linked(node to, std::vector<std::unique_ptr<weft::transports::link>> links,
                          std::uint32_t credit) {
  victim& v = of(to);
  v.links = std::move(links);
  v.talk.granted(credit);
  for (const auto& l : v.links) {
    if (const auto at = l->expose(weft::const_buffer(memory_)))
      v.talk.addresses.push_back(at->packed());
    if (const auto at = l->expect(weft::mutable_buffer(memory_)))
      v.talk.addresses.push_back(at->packed());
  }
}

bool hostile_rank::has_links(node to) const {
  const auto it = victims_.find(to);
  return it != victims_.end() && !it->second->links.empty();
}

void hostile_rank::knows_region(node whose, std::uint64_t key, std::uint64_t first,
                                std::uint64_t size) {
  of(whose).talk.regions.push_back({key, first, size});
}

post hostile_rank::speak(node to, dice& d, const weft::tests::temper& t) {
  const engine::holder hold(engine_);
  victim& v = of(to);
  if (v.links.empty()) return post::failed;
  if (!v.talk.shown().empty() && d.percent(5)) return touch(v, d);
  if (!v.unsent) v.unsent = v.talk.next(d, t);
  const post answer = send(v, d);
  if (answer != post::busy) v.unsent.reset();
  return answer;
}

/// With several links: large data by any of them, and all other frames in order, or nearly so.
post hostile_rank::send(victim& v, dice& d) {
  const hostile_frame& f = *v.unsent;
  weft::transports::gather junk(parts_);
  if (!plan_.wanted.many_links)
    return v.links[d.below(v.links.size())]->send(f.header, f.extra(), junk);
  const bool fragment = f.header.kind == static_cast<std::uint8_t>(frame_kind::data) && f.extra();
  std::uint64_t& number = fragment ? v.fragments : v.ordered;
  weft::transports::frame_header outer = f.header;
  std::vector<std::byte> block;
  if (!fragment) {
    block = block_of(f);
    outer =
        weft::proto::header_of(frame_kind::ordered, 0, static_cast<std::uint32_t>(block.size()));
  }
  outer.tag = d.percent(97) ? number : number + d.below(d.percent(90) ? 300 : 200'000);
  if (!fragment && v.gap && v.until_filled-- == 0) {
    outer.tag = *std::exchange(v.gap, std::nullopt);
  } else if (!fragment && !v.gap && d.below(1000) < 3) {
    v.gap = number++;
    v.until_filled = static_cast<unsigned>(d.below(d.percent(30) ? 5000 : 100));
    outer.tag = number;
  }
  const weft::const_buffer whole(block);
  const std::size_t first = v.lane++;
  post answer = post::failed;
  for (std::size_t i = 0; i < v.links.size() && answer == post::failed; ++i) {
    weft::transports::gather data({&whole, 1});
    answer = v.links[(first + i) % v.links.size()]->send(outer, fragment ? &f.extension : nullptr,
                                                         fragment ? junk : data);
  }
  if (answer == post::done && outer.tag == number) ++number;
  return answer;
}

/// Reads or writes memory that the victim has shown, once.
post hostile_rank::touch(victim& v, dice& d) {
  const auto& shown = v.talk.shown();
  weft::proto::remote_address there =
      weft::proto::remote_address::unpack(shown[d.below(shown.size())]);
  if (d.percent(20)) there.offset += d.below(100'000);
  const std::size_t size = d.below(memory_size);
  weft::transports::link& by = *v.links[d.below(v.links.size())];
  const post answer = d.percent(50) ? by.put(weft::transports::gather(parts_), there, size, 0)
                                    : by.get(weft::transports::scatter(into_), there, size, 0);
  log_.event("rank {} touches {} bytes of another rank's memory: {}", number_, size,
             static_cast<int>(answer));
  return post::done;
}

}  // namespace sim
