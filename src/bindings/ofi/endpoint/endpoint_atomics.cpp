// SPDX-License-Identifier: Apache-2.0
// An endpoint's atomics on single values in memory of peers. fi_atomic(3).
#include "bindings/ofi/endpoint/posting.hpp"
#include "bindings/ofi/objects/memory_region.hpp"

namespace weft::ofi {

using detail::rma_kind;
using detail::rma_request;

namespace {

record about(const atomic_call& c, endpoint& of) noexcept {
  const bool fetches = c.kind != atomic_kind::base;
  record r;
  r.owner = &of;
  r.context = c.context;
  r.what = fetches ? record::kind::read : record::kind::write;
  r.flags = FI_ATOMIC | (fetches ? FI_READ : FI_WRITE);
  r.buffer = c.change.result;
  r.size = r.room = size_of(c.change.type);
  return r;
}

update_request first_step(const value_change& c, const weft::endpoint& with,
                          const remote_region& word) noexcept {
  if (c.fills_word() && c.op == FI_CSWAP) return with.compare_swap(word, c.compare, c.operand);
  const bool adds = c.fills_word() && c.op == FI_SUM && c.type != FI_DOUBLE;
  return with.fetch_add(word, adds ? c.operand : 0);
}

/// Whether another step is needed: another update came in between, or the last step only read.
/// `order` becomes the next step.
bool goes_on(const value_change& c, std::uint64_t found, rma_request& order) noexcept {
  if (c.fills_word() && c.op == FI_CSWAP) return false;
  if (order.kind == rma_kind::compare_swap && found == order.expected) return false;
  if (order.kind == rma_kind::fetch_add && order.operand != 0) return false;
  const std::uint64_t wanted = c.applied_to(found);
  order.kind = rma_kind::compare_swap;
  order.expected = found;
  order.operand = wanted;
  return wanted != found;
}

/// The application may make no calls meanwhile: the thread that makes progress goes on.
bool next_step(detail::rma_operation& done) noexcept {
  auto& r = static_cast<update_record&>(done);
  return goes_on(slot::around(r).change, r.found, r.order);
}

}  // namespace

ssize_t endpoint::update(const atomic_call& c) noexcept {
  if ((caps_ & FI_ATOMIC) == 0 || !is_offered(c.kind, c.change.type, c.change.op))
    return -FI_EOPNOTSUPP;
  const weft::endpoint* const with = peers_ ? peers_->find(c.peer) : nullptr;
  const std::size_t size = size_of(c.change.type);
  if (!with || c.address % size != 0) return -FI_EINVAL;
  record its = about(c, *this);
  its.tells = !c.silent && bound_.of(its).wants_entry(c.flags);

  external_loop::progress_guard hold(*external_loop_);
  slot* const memory = take_slot();
  if (!memory) return -FI_ENOMEM;
  value_change& change = *::new (&memory->change) value_change(c.change);
  change.place_at(c.address);
  const std::uint64_t word = c.address - c.address % word_size;
  post<update_record>(hold, *memory, its,
                      first_step(change, *with, {weft_key(c.key), word, word_size}), &next_step);
  return 0;
}

/// With the external loop held.
void endpoint::note_end(update_record& r) noexcept {
  const value_change& change = slot::around(r).change;
  if (r.error == 0 && change.result)
    store_value(change.result, change.type, change.value_in(r.found));
  note_end(static_cast<record&>(r));
}

}  // namespace weft::ofi
