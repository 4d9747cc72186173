// SPDX-License-Identifier: Apache-2.0
#include "proto/messenger/messenger.hpp"

#include <memory>
#include <utility>

#include "proto/loans/lent_source.hpp"
#include "proto/messenger/message_errors.hpp"

namespace weft::proto {

messenger::messenger(runtime::engine& e, messenger_settings s)
    : engine_(e),
      settings_(std::move(s)),
      services_{e, settings_, counts_, table_, messages_, memory_, costs_, upkeep_},
      tables_{peers_, upkeep_, receives_, calls_, groups_, regions_, streams_},
      table_(settings_.hashed_tag_bits, settings_.secret()),
      memory_(settings_.unexpected_budget, settings_.fixed_credit, counts_, upkeep_),
      receives_(services_, peers_),
      calls_(services_, peers_, settings_.calls_at_once),
      regions_(services_, settings_.secret),
      groups_(services_, peers_),
      upkeep_(services_, tables_),
      peers_(services_, tables_) {
  services_.lent = std::make_shared<lent_home>(e);
}

messenger::~messenger() {
  {
    const runtime::engine::holder hold(engine_);
    close_all();
  }
  close_views();
}

void messenger::close_views() noexcept { services_.lent->close(); }

metrics messenger::snapshot() const {
  const runtime::engine::holder hold(engine_);
  return snapshot_held();
}

metrics messenger::snapshot_held() const {
  metrics now = counts_;
  for (const auto& [transport, before] : peers_.departed()) now += before;
  peers_.for_each([&now](const peer& p) { now += p.connection().traffic(); });
  now.collectives = groups_.begun();
  const runtime::engine_counters& e = engine_.counters();
  now.sleeps = e.sleeps.load();
  now.nanoseconds_asleep = e.nanoseconds_asleep.load();
  now.wake_ups = e.wake_ups.load();
  now.empty_wake_ups = e.empty_wake_ups.load();
  now.progress_iterations = e.progress_iterations.load();
  now.doorbells_rung = engine_.bells_rung();
  return now;
}

bool messenger::unsent() const noexcept {
  const runtime::engine::holder hold(engine_);
  return peers_.any_of([](peer& p) { return p.writer().unsent(); });
}

void messenger::begin_end() noexcept {
  const runtime::engine::holder hold(engine_);
  services_.ending = true;
  services_.sends_shortly = false;
  peers_.for_each([](peer& p) { p.sender().leave_short_path(); });
}

/// No other process takes what this process sends to itself.
bool messenger::owes() const noexcept {
  const runtime::engine::holder hold(engine_);
  if (calls_.served() != calls_.running()) return true;  // an answer that is about to be sent
  return peers_.any_of([this](const peer& p) { return !streams_.is_self(p.id()) && p.owes(); });
}

std::size_t messenger::give_up_debts(std::string_view why) noexcept {
  const runtime::engine::holder hold(engine_);
  std::size_t n = 0;
  peers_.for_each([&](peer& p) {
    if (streams_.is_self(p.id()) || !p.owes()) return;
    ++n;
    p.give_up(errc::timed_out, why);
  });
  return n;
}

bool messenger::streams_linger() const noexcept {
  const runtime::engine::holder hold(engine_);
  return streams_.lingering != 0;
}

void messenger::close_all() noexcept {
  groups_.close();
  peers_.close();
  peers_.for_each([](peer& p) { p.end({errc::closed, context_ended}); });
  receives_.close();
  calls_.close();
  regions_.close();
  upkeep_.stop_sweeping();
  while (inbound_message* m = table_.any_unexpected(nullptr)) {
    table_.remove(*m);
    m->from->receiver().discard(*m);
  }
}

void messenger::fail_unconnected() noexcept {
  peers_.for_each([](peer& p) {
    if (p.now() == peer::state::connecting)
      p.give_up(errc::out_of_memory, "no memory for a connection to it");
  });
}

}  // namespace weft::proto
