// SPDX-License-Identifier: Apache-2.0
// A rank's calls of other ranks, and its handlers.
#include <algorithm>

#include "sim/rank.hpp"
#include "sim/service.hpp"

namespace sim {

using service_ptr = std::shared_ptr<service>;
using weft::runtime::engine;

void rank::accuse(const std::string& what) { log_.violation("rank {}: {}", number_, what); }

watched_call rank::call(node to, const service_ptr& s, unsigned i) {
  call_record& c = ledger_.new_call(number_, to, s, i);
  c.may_wait = [this, to] { return is_busy_(to); };
  return {{peer(to), {s->number}, weft::const_buffer(c.arguments), c.buffer()}, &ledger_, &c};
}

watched_post rank::post(node to, const service_ptr& s, unsigned i) {
  call_record& c = ledger_.new_call(number_, to, s, i);
  c.may_wait = [this, to] { return is_busy_(to); };
  return {{peer(to), weft::detail::post_tag({s->number}), weft::const_buffer(c.arguments)},
          &ledger_,
          &c};
}

watched_arguments rank::take_arguments(weft::call& c, const service_ptr& s, unsigned ticket) {
  constexpr std::size_t most = 100'000;  // a hostile rank says any size
  served_record& page = ledger_.new_served("arguments", number_, static_cast<node>(c.from().id()),
                                           s, std::min(c.size(), most));
  page.ticket = ticket;
  return {c.recv(page.buffer()), &ledger_, &page};
}

watched_reply rank::answer(weft::call& c, const service_ptr& s, unsigned ticket,
                           const std::vector<std::byte>& bytes) {
  served_record& page =
      ledger_.new_served("reply", number_, static_cast<node>(c.from().id()), s, bytes.size());
  page.ticket = ticket;
  std::copy(bytes.begin(), bytes.end(), page.memory.begin());
  return {c.reply(weft::const_buffer(page.buffer())), &ledger_, &page};
}

std::shared_ptr<weft::proto::call_handler> rank::add_handler(
    const service_ptr& s, std::unique_ptr<weft::detail::call_code> code) {
  auto made =
      std::make_shared<weft::proto::call_handler>(weft::am{s->number}, std::move(code), nullptr);
  const engine::holder hold(engine_);
  try {
    messages_.calls().add(made);
  } catch (const weft::error&) {
    return nullptr;
  }
  s->registered = true;
  had_inline_ = had_inline_ || s->is_inline;
  services_.push_back(s);
  ledger_.serves(number_, 1);
  return made;
}

void rank::forget_service(const service_ptr& s) {
  if (!std::exchange(s->registered, false)) return;
  s->ended = true;
  ledger_.serves(number_, -1);
}

void rank::end_handler(const service_ptr& s, weft::proto::call_handler& h, bool stops) {
  forget_service(s);
  std::erase(services_, s);
  h.close();
  if (stops) h.stop();
}

}  // namespace sim
