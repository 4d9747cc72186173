// SPDX-License-Identifier: Apache-2.0
#include "proto/peer_upkeep.hpp"

#include <new>

#include "proto/messenger.hpp"
#include "proto/select.hpp"

namespace weft::proto {

unsigned peer_upkeep::poll() noexcept {
  worth_polling = false;
  if (has_marked_) [[unlikely]]
    fail_marked();
  if (has_unreported_) [[unlikely]]
    report_failures();
  if (early_) announce_early();
  const bool sweeps = to_sweep_ != nullptr;
  if (sweeps) [[unlikely]]
    sweep();
  if (yielded_.empty()) return sweeps ? 1 : 0;
  yielded_.resume_all(true);
  return 1;
}

/// A slice in each pass, however much the peers that have gone had sent.
void peer_upkeep::sweep() noexcept {
  if (to_sweep_->receiver().sweep(messages_per_pass)) swept();
  worth_polling = worth_polling || to_sweep_ != nullptr;
  update_busy();
}

/// Where the link has no room, on_writable goes on.
void peer_upkeep::announce_early() noexcept {
  while (peer* const p = early_) {
    early_ = p->next_early;
    p->early_gathered = false;
    if (early_receives* const e = p->early()) e->flush();
  }
}

void peer_upkeep::stop_sweeping() noexcept {
  while (to_sweep_) swept();
  update_busy();
}

void peer_upkeep::fail_marked() noexcept {
  has_marked_ = false;
  update_busy();
  messenger_.peers().for_each([](peer& p) {
    const errc why = p.connection().marked_failure();
    if (why == errc::ok) return;
    p.fail(why, why == errc::out_of_memory ? "no memory for what it must be told"
                                           : "it made this side say more than it reads");
  });
}

/// If there is no memory to tell the process now, a later pass tries again: the peer's end may have
/// freed some.
void peer_upkeep::given_up(peer& p) noexcept {
  try {
    messenger_.connections().given_up(p);
    p.unreported = false;
  } catch (const std::bad_alloc&) {
    p.unreported = has_unreported_ = true;
    owe_pass();
  }
}

void peer_upkeep::report_failures() noexcept {
  has_unreported_ = false;
  update_busy();
  messenger_.peers().for_each([this](peer& p) {
    if (p.unreported) given_up(p);
  });
}

void peer_upkeep::has_unsent(bool one_more) noexcept {
  one_more ? ++unsent_ : --unsent_;
  update_busy();
  if (one_more) engine_.look_after();
}

}  // namespace weft::proto
