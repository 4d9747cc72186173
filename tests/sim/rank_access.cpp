// SPDX-License-Identifier: Apache-2.0
// A rank's access to the memory of other ranks, and theirs to its memory.
#include <algorithm>

#include "sim/rank.hpp"

namespace sim {

using weft::detail::rma_kind;
using memory = std::shared_ptr<shared_memory>;

void rank::host(memory mine) {
  mine->key = mine->name.key;
  if (mine->key != 0)
    messages_.regions().add(mine->name, mine->all(), weft::rights::read_write);
  else
    mine->key = messages_.regions().add(mine->all(), weft::rights::read_write);
  hosted_.push_back(std::move(mine));
  ledger_.hosts(number_, true);
}

/// At the context's end all regions end: no link copies any more.
void rank::end_regions() {
  for (const memory& m : hosted_) {
    m->ending = true;
    const weft::region_end_request end{&messages_, m->key};
    if (!region_ends_.emplace_back(end, [](weft::operation&) noexcept {}).start())
      log_.violation("the end of rank {} waits for a peer that copies", number_);
  }
  hosted_.clear();
  ledger_.hosts(number_, false);
}

access_record& rank::access(std::string_view what, node owner, const memory& there, unsigned slot,
                            std::size_t bytes) {
  access_record& a = ledger_.new_access(what, number_, owner, there, bytes);
  a.slot = slot;
  a.always_ends = true;
  a.may_end = [there, slot](errc status) { return there->excuses(slot, status); };
  return a;
}

watched_transfer rank::put(node owner, const memory& there, unsigned slot) {
  access_record& a = access("put", owner, there, slot, there->size_of(slot));
  const std::vector<std::byte> bytes = there->contents(slot);
  std::copy(bytes.begin(), bytes.end(), a.memory.begin());
  std::optional<weft::notify> then;
  if (there->use_of(slot) == use::told_put) then = weft::notify{slot};
  return {{{.to = peer(owner),
            .kind = rma_kind::put,
            .where = there->slot(slot),
            .data = weft::const_buffer(a.buffer()),
            .then = then}},
          &ledger_,
          &a};
}

watched_transfer rank::get(node owner, const memory& there, unsigned slot) {
  access_record& a = access("get", owner, there, slot, there->size_of(slot));
  return {
      {{.to = peer(owner), .kind = rma_kind::get, .where = there->slot(slot), .into = a.buffer()}},
      &ledger_,
      &a};
}

watched_update rank::add(node owner, const memory& there, unsigned slot) {
  access_record& a = access("fetch_add", owner, there, slot, 0);
  return {
      {{.to = peer(owner), .kind = rma_kind::fetch_add, .where = there->counter(), .operand = 1}},
      &ledger_,
      &a};
}

watched_notified rank::hear(const memory& mine) {
  access_record& a = ledger_.new_access("notification", number_, {}, mine, 0);
  a.may_end = [mine](errc status) { return mine->ending && status == errc::closed; };
  return {{&messages_, mine->key}, &ledger_, &a};
}

watched_region_end rank::end_of(const memory& mine) {
  mine->ending = true;
  access_record& a = ledger_.new_access("end of a region", number_, {}, mine, 0);
  a.always_ends = true;
  a.hostile_may_hold = mine->open_to_all;
  a.after = [this, mine] {
    std::erase(hosted_, mine);
    ledger_.hosts(number_, !hosted_.empty());
  };
  return {{&messages_, mine->key}, &ledger_, &a};
}

}  // namespace sim
