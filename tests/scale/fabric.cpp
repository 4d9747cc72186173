// SPDX-License-Identifier: Apache-2.0
#include "scale/fabric.hpp"

#include <algorithm>
#include <utility>

namespace scale {

fabric::fabric(const network& net, peer_id ranks)
    : net_(net), ranks_(ranks), hosts_(net.host_of(ranks - 1) + 1) {}

fabric::~fabric() {
  for (; !queue_.empty(); queue_.pop()) delete queue_.top().moving;
}

void fabric::at(picoseconds when, stage what, peer_id rank, std::unique_ptr<delivery> moving) {
  queue_.push({when, ++events_, what, rank, moving.release()});
}

/// How long a port is busy with the bytes.
picoseconds fabric::wire_time(const delivery& p) const noexcept {
  return in_picoseconds(cost(p).per_byte * static_cast<double>(p.size));
}

void fabric::count(peer_id sender, const delivery& p) noexcept {
  ++ranks_[sender].sent.frames;
  ranks_[sender].sent.bytes += p.size;
  if (p.across >= level::host) ranks_[sender].sent.leaving += p.size;
}

void fabric::send(std::unique_ptr<delivery> f) {
  f->across = net_.between(f->from, f->to);
  f->size = sizeof f->header + transports::extension_size(f->header) + f->header.size;
  count(f->from, *f);
  picoseconds& clock = ranks_[f->from].clock;
  clock += in_picoseconds(cost(*f).overhead);
  at(clock, stage::departs, 0, std::move(f));
}

void fabric::get(std::unique_ptr<delivery> g) {
  g->across = net_.between(g->from, g->to);
  g->is_get = true;
  count(g->from, *g);
  picoseconds& clock = ranks_[g->to].clock;
  clock += in_picoseconds(cost(*g).overhead);
  const picoseconds asked = clock + in_picoseconds(cost(*g).latency);
  at(asked, stage::departs, 0, std::move(g));
}

void fabric::compute(peer_id rank, std::size_t reduced_bytes) {
  ranks_[rank].clock += in_picoseconds(net_.reduced_byte * static_cast<double>(reduced_bytes));
}

void fabric::depart(std::unique_ptr<delivery> p) {
  port& out = port_of(p->from, p->across);
  const picoseconds leaves = std::max(now_, out.out_free);
  out.out_free = leaves + std::max(wire_time(*p), in_picoseconds(cost(*p).gap));
  const picoseconds first_byte = leaves + in_picoseconds(cost(*p).latency);
  at(first_byte, stage::arrives, 0, std::move(p));
}

void fabric::arrive(std::unique_ptr<delivery> p) {
  port& in = port_of(p->to, p->across);
  const picoseconds begins = std::max(now_, in.in_free);
  in.in_free = begins + std::max(wire_time(*p), in_picoseconds(cost(*p).gap));
  const picoseconds last_byte = begins + wire_time(*p);
  at(last_byte, stage::there, 0, std::move(p));
}

void fabric::queue_at(peer_id rank, std::unique_ptr<delivery> p) {
  ranks_[rank].arrived.push_back(std::move(p));
  if (!ranks_[rank].has_turn) give_turn(rank);
}

void fabric::give_turn(peer_id rank) {
  rank_state& r = ranks_[rank];
  r.has_turn = !r.arrived.empty();
  if (r.has_turn) at(std::max(now_, r.clock), stage::rank_turns, rank);
}

std::unique_ptr<delivery> fabric::next() {
  if (const peer_id before = std::exchange(working_, weft::no_peer); before != weft::no_peer)
    give_turn(before);
  while (!queue_.empty()) {
    const event e = queue_.top();
    queue_.pop();
    now_ = e.when;
    std::unique_ptr<delivery> p(e.moving);
    switch (e.what) {
      case stage::departs:
        depart(std::move(p));
        break;
      case stage::arrives:
        arrive(std::move(p));
        break;
      case stage::there: {
        const peer_id to = p->to;
        queue_at(to, std::move(p));
        break;
      }
      case stage::rank_turns: {
        rank_state& r = ranks_[e.rank];
        p = std::move(r.arrived.front());
        r.arrived.pop_front();
        r.clock = std::max(now_, r.clock) + in_picoseconds(cost(*p).overhead);
        working_ = e.rank;
        return p;
      }
    }
  }
  return nullptr;
}

picoseconds fabric::align() {
  picoseconds latest = now_;
  for (const rank_state& r : ranks_) latest = std::max(latest, r.clock);
  for (const port& h : hosts_) latest = std::max({latest, h.out_free, h.in_free});
  for (const rank_state& r : ranks_) latest = std::max({latest, r.own.out_free, r.own.in_free});
  for (rank_state& r : ranks_) {
    r.clock = latest;
    r.sent = {};
  }
  return latest;
}

}  // namespace scale
