// SPDX-License-Identifier: Apache-2.0
#include "sim/ledger.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "sim/service.hpp"
#include "sim/shared_memory.hpp"

namespace sim {

using weft::tag_mask;

namespace {

constexpr std::size_t margin = 16;
constexpr std::byte untouched{0xa5};  // in a receive's memory before, and always in margins
constexpr std::byte returned{0xee};   // in memory that belongs to the rank again

bool all_are(std::span<const std::byte> bytes, std::byte what) {
  return std::all_of(bytes.begin(), bytes.end(), [what](std::byte b) { return b == what; });
}

std::byte mark_of(unsigned place) { return static_cast<std::byte>(place * 37 + 11); }

/// The bytes that only this message has; the first one tells its place in the stream.
std::vector<std::byte> contents(const message_record& m) {
  std::vector<std::byte> bytes(m.size());
  dice d = dice(m.tag).part(m.at).part(*m.with).part(m.place);
  std::size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    const std::uint64_t word = d.throw_one();
    std::memcpy(&bytes[i], &word, sizeof word);
  }
  for (; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(d.throw_one());
  if (!bytes.empty()) bytes[0] = mark_of(m.place);
  return bytes;
}

}  // namespace

std::string name_of(const record& r) {
  return fmt::format("{} {} of rank {}{}", r.what, r.number, r.at,
                     r.with ? fmt::format(" with rank {}", *r.with) : " with anybody");
}

std::size_t record::size() const noexcept { return memory.empty() ? 0 : memory.size() - margin; }

weft::mutable_buffer record::buffer() noexcept {
  return weft::mutable_buffer(memory.data(), size());
}

template <class Record>
Record& ledger::enter(std::deque<Record>& where, std::string_view what, node at,
                      std::optional<node> with, std::size_t bytes) {
  Record& r = where.emplace_back();
  r.number = static_cast<unsigned>(all_.size());
  r.what = what;
  r.at = at;
  r.with = with;
  r.memory.assign(bytes + margin, untouched);
  all_.push_back(&r);
  return r;
}

message_record& ledger::new_message(node from, node to, std::uint64_t tag, std::size_t size,
                                    bool synchronous) {
  message_record& m = enter(messages_, "send", from, to, size);
  std::vector<message_record*>& before = streams_[{from, to, tag}];
  m.tag = tag;
  m.place = static_cast<unsigned>(before.size());
  m.synchronous = synchronous;
  before.push_back(&m);
  const std::vector<std::byte> bytes = contents(m);
  std::copy(bytes.begin(), bytes.end(), m.memory.begin());
  return m;
}

receive_record& ledger::new_receive(node at, std::optional<node> from, tag_mask tag,
                                    std::size_t room) {
  receive_record& r = enter(receives_, "receive", at, from, room);
  r.tag = tag;
  return r;
}

receive_record& ledger::new_probe(node at, std::optional<node> from, tag_mask tag) {
  receive_record& r = enter(receives_, "probe", at, from, 0);
  r.tag = tag;
  return r;
}

record& ledger::new_wait_for_end(node at, node whom) {
  return enter(others_, "wait for the end", at, whom, 0);
}

access_record& ledger::new_access(std::string_view what, node at, std::optional<node> with,
                                  std::shared_ptr<shared_memory> there, std::size_t bytes) {
  access_record& a = enter(accesses_, what, at, with, bytes);
  a.there = std::move(there);
  return a;
}

call_record& ledger::new_call(node at, node to, std::shared_ptr<service> there, unsigned index) {
  const bool one_way = there->one_way(index);
  call_record& c =
      enter(calls_, one_way ? "post" : "call", at, to, one_way ? 0 : there->room(index));
  c.arguments = there->arguments(index);
  c.always_ends = true;
  c.hides = 2;  // its request and its reply, when they are messages of several frames
  c.opaque = true;
  c.index = index;
  c.may_end = [&c](errc status) { return c.there->excuses(c, status); };
  c.there = std::move(there);
  return c;
}

served_record& ledger::new_served(std::string_view what, node at, node with,
                                  std::shared_ptr<service> there, std::size_t bytes) {
  served_record& s = enter(served_, what, at, with, bytes);
  s.there = std::move(there);
  s.always_ends = s.answers = true;
  return s;
}

record& ledger::new_collective(std::string_view what, node at) {
  record& r = enter(others_, what, at, {}, 0);
  r.counted = false;
  r.always_ends = r.opaque = true;
  return r;
}

void ledger::begun(record& r) {
  r.begun = true;
  if (r.counted) ++waiting_[r.at];
  hidden_[r.at] += r.hides;
  if (r.what == "call" || r.what == "post") {
    const auto& c = static_cast<call_record&>(r);
    c.there->begun(c.index);
  }
  if (r.what == "receive") posted_.push_back(static_cast<receive_record*>(&r));
  log_.event(r.what == "send" ? "rank {}: send {} of {} bytes to rank {} begins"
                              : "rank {}: operation {} with room for {} bytes from rank {} begins",
             r.at, r.number, r.size(), static_cast<int>(r.with.value_or(~0u)));
}

void ledger::asked_to_stop(record& r) {
  r.asked_to_stop = true;
  log_.event("rank {}: operation {} is asked to stop", r.at, r.number);
}

bool ledger::ends_twice() noexcept { return ends_twice_ != 0 && ++ends_ == ends_twice_; }

bool ledger::ended(record& r, errc status) {
  log_.event("rank {}: operation {} ends with status {}", r.at, r.number, static_cast<int>(status));
  if (++r.ends > 1) {
    log_.violation("{} ended {} times", name_of(r), r.ends);
    return false;
  }
  if (r.counted) --waiting_[r.at];
  hidden_[r.at] -= r.hides;
  r.status = status;
  if (!may_end_like(r, status))
    log_.violation("{} ended with {}, for which there was no cause", name_of(r),
                   weft::make_error_code(status).message());
  return true;
}

void ledger::ended(message_record& m) {
  const std::vector<std::byte> bytes = contents(m);
  if (!std::equal(bytes.begin(), bytes.end(), m.memory.begin()))
    log_.violation("{}: its buffer was changed", name_of(m));
  // The rank may reuse the memory at once; a thread that still reads it sends garbage.
  std::fill(m.buffer().begin(), m.buffer().end(), returned);
}

void ledger::ended(receive_record& r, const weft::received& got) {
  r.got = got;
  // A receive that was stopped while its message arrived tells the stream of the message.
  if (r.status == errc::stopped && got.source != weft::no_peer) {
    ++dropped_[{static_cast<node>(got.source), r.at, got.tag.value}];
    if (got.size <= weft::proto::one_frame && got.source != hostile)
      log_.violation("{} was stopped, and a message of {} bytes was lost with it", name_of(r),
                     got.size);
  }
  if (r.went_well()) {
    const message_record* m = recognise(r);
    const auto from = static_cast<node>(got.source);
    if (from == hostile) {
      judge_untouched(r, got.size);
    } else if (!m) {
      log_.violation("{} got {} bytes of tag {:#x} from rank {}, which is no message of that rank",
                     name_of(r), got.size, got.tag.value, from);
    } else if (!can_match(*m, r)) {
      log_.violation("{} got {}, which does not match it", name_of(r), name_of(*m));
    } else if (r.what == "receive") {
      const std::vector<std::byte> bytes = contents(*m);
      const std::size_t n = std::min(bytes.size(), r.size());
      if (got.size != bytes.size() ||
          !std::equal(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n),
                      r.memory.begin()))
        log_.violation("{} did not get {} as it was sent", name_of(r), name_of(*m));
      judge_untouched(r, bytes.size());
      if (m->taken_by)
        log_.violation("{} was delivered twice, to {} and {}", name_of(*m), name_of(*m->taken_by),
                       name_of(r));
      r.message = m;
      const_cast<message_record*>(m)->taken_by = &r;
      ++delivered_;
    }
  }
  std::fill(r.buffer().begin(), r.buffer().end(), returned);
}

/// The receive got a message of that size; the memory behind it must be untouched.
void ledger::judge_untouched(receive_record& r, std::size_t size) {
  if (r.what != "receive") return;
  if (!all_are(r.buffer().subspan(std::min(size, r.size())), untouched))
    log_.violation("{}: bytes behind the message were written", name_of(r));
  if ((r.status == errc::truncated) != (size > r.size()))
    log_.violation("{} ended with the wrong status for its room", name_of(r));
}

const message_record* ledger::recognise(const receive_record& r) const {
  const auto it = streams_.find({static_cast<node>(r.got.source), r.at, r.got.tag.value});
  if (it == streams_.end()) return nullptr;
  const std::vector<message_record*>& all = it->second;
  const bool has_mark = r.what == "receive" && r.size() != 0 && r.got.size != 0;
  for (const message_record* m : all)
    if (has_mark ? mark_of(m->place) == r.memory[0] : m->size() == r.got.size && !m->taken_by)
      return m;
  return nullptr;
}

bool ledger::can_match(const message_record& m, const receive_record& r) const {
  return m.begun && *m.with == r.at && (!r.with || *r.with == m.at) && r.tag.matches({m.tag});
}

void ledger::ended(access_record& a, std::uint64_t told) {
  const std::string wrong = a.there->open_to_all ? "" : a.there->judge(a, told);
  if (!wrong.empty()) log_.violation("{}: {}", name_of(a), wrong);
  std::fill(a.buffer().begin(), a.buffer().end(), returned);
  if (a.after) a.after();
}

void ledger::ended(call_record& c, std::size_t size) {
  const std::string wrong = may_be_hostile(c) ? "" : c.there->judge_end(c, size);
  if (!wrong.empty()) log_.violation("{}: {}", name_of(c), wrong);
  std::fill(c.buffer().begin(), c.buffer().end(), returned);
}

void ledger::ended(served_record& s) {
  if (s.what == "arguments" && s.status == errc::ok && s.with == s.there->caller) {
    const std::string wrong = s.there->judge_arguments(s.buffer(), s.ticket);
    if (!wrong.empty()) log_.violation("{}: {}", name_of(s), wrong);
  }
  std::fill(s.buffer().begin(), s.buffer().end(), returned);
}

void ledger::spoil(node at, node whom, errc how) { spoiled_[{at, whom}].insert(how); }

bool ledger::lends(node at, weft::const_buffer what) const {
  const auto holds = [what](const std::byte* begin, std::size_t size) {
    return what.data() >= begin && what.data() + what.size() <= begin + size;
  };
  return std::any_of(all_.begin(), all_.end(),
                     [&](const record* r) {
                       return r->at == at && r->pending() &&
                              (r->opaque || holds(r->memory.data(), r->size()));
                     }) ||
         std::any_of(accesses_.begin(), accesses_.end(), [&](const access_record& a) {
           const auto all = a.there->all();
           return a.with.value_or(a.at) == at && holds(all.data(), all.size());
         });
}

std::uint64_t ledger::pending(node at) const {
  const auto it = waiting_.find(at);
  const std::uint64_t hosts = hosts_.contains(at) && hosts_.at(at) ? 1 : 0;
  return hosts + (it == waiting_.end() ? 0 : static_cast<std::uint64_t>(it->second));
}

std::uint64_t ledger::hidden(node at) const {
  const auto it = hidden_.find(at);
  return it == hidden_.end() ? 0 : static_cast<std::uint64_t>(it->second);
}

void ledger::judge_buffer(record& r) {
  if (r.memory.empty()) return;
  if (!all_are(std::span(r.memory).last(margin), untouched))
    log_.violation("{}: memory behind its buffer was written", name_of(r));
  if (r.ends != 0 && !all_are(r.buffer(), returned))
    log_.violation("{}: its buffer was written after its end", name_of(r));
}

}  // namespace sim
