// SPDX-License-Identifier: Apache-2.0
// One rank: the parts of a context, without the control plane.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include <weft/coro/task.hpp>
#include <weft/detail/collective_ops.hpp>
#include <weft/endpoint.hpp>

#include "proto/messenger/messenger.hpp"
#include "sim/log.hpp"
#include "sim/plan.hpp"
#include "sim/shared_memory.hpp"
#include "sim/watched.hpp"
#include "support/scripted_connector.hpp"

namespace sim {

/// Real engine, real messenger, real coroutines, on fake transports. Its tasks run in the turns
/// that the world gives it.
class rank {
 public:
  /// \param is_busy whether a rank may let calls of this one wait, since the hostile rank's run
  rank(fake::world& w, node number, const scenario& p, log& l, ledger& book,
       std::function<bool(node)> is_busy);
  ~rank();

  node number() const noexcept { return number_; }
  weft::runtime::engine& engine() noexcept { return engine_; }
  weft::proto::messenger& messages() noexcept { return messages_; }
  weft::tests::scripted_connector& connector() noexcept { return connector_; }
  weft::transports::transport& way(std::size_t n) noexcept { return *ways_[n]; }
  ledger& book() noexcept { return ledger_; }
  log& history() noexcept { return log_; }
  weft::endpoint to(node n) {
    return weft::detail::internals::endpoint_of(messages_.peers().at(n));
  }

  /// Runs a task in the rank's next turn, without awaiting it. The task may not throw.
  void play(weft::task<void> t);
  void stop() { stop_.request_stop(); }

  /// Does what core's destructor does. Nothing can be played afterwards.
  void end();
  /// Checks that nothing of any message is left, after end().
  void judge_remains();

  // Operations that the ledger watches, ready to be awaited.
  watched_send send(node to, std::uint64_t tag, std::size_t size, bool synchronous = false);
  watched_receive receive(std::optional<node> from, weft::tag_mask tag, std::size_t room);
  watched_probe probe(std::optional<node> from, weft::tag_mask tag);
  watched_end closed(node whom);
  watched_transfer put(node owner, const std::shared_ptr<shared_memory>& there, unsigned slot);
  watched_transfer get(node owner, const std::shared_ptr<shared_memory>& there, unsigned slot);
  watched_update add(node owner, const std::shared_ptr<shared_memory>& there, unsigned slot);
  watched_notified hear(const std::shared_ptr<shared_memory>& mine);
  watched_region_end end_of(const std::shared_ptr<shared_memory>& mine);

  watched_call call(node to, const std::shared_ptr<service>& s, unsigned i);
  watched_post post(node to, const std::shared_ptr<service>& s, unsigned i);
  /// In a handler: receives the arguments of a call, or replies.
  watched_arguments take_arguments(weft::call& c, const std::shared_ptr<service>& s,
                                   unsigned ticket);
  watched_reply answer(weft::call& c, const std::shared_ptr<service>& s, unsigned ticket,
                       const std::vector<std::byte>& bytes);

  /// Calls of the service are served until end_handler(), or until the end of the rank.
  /// \return null: the rank has ended
  std::shared_ptr<weft::proto::call_handler> add_handler(
      const std::shared_ptr<service>& s, std::unique_ptr<weft::detail::call_code> code);
  /// \param stops asks calls that run to stop
  void end_handler(const std::shared_ptr<service>& s, weft::proto::call_handler& h, bool stops);
  /// \param members ranks, of which this is one
  weft::detail::communicator_ptr group_of(std::uint64_t number, const std::vector<node>& members,
                                          bool one_host);
  /// Whether weft may have memory of its own for arguments, of calls of an inline handler.
  bool receives_for_inline() noexcept { return had_inline_ && messages_.calls().running() != 0; }
  /// A violation that an act has found.
  void accuse(const std::string& what);

  /// Makes the memory a region, until end_of(), or until the end of the rank.
  void host(std::shared_ptr<shared_memory> mine);

 private:
  class player;
  weft::proto::peer* peer(std::optional<node> n) {
    return n ? messages_.peers().at(*n).get() : nullptr;
  }
  std::uint32_t budget();
  void forget_service(const std::shared_ptr<service>& s);
  void end_regions();
  access_record& access(std::string_view what, node owner,
                        const std::shared_ptr<shared_memory>& there, unsigned slot,
                        std::size_t bytes);

  const node number_;
  log& log_;
  ledger& ledger_;
  weft::runtime::engine engine_;
  std::vector<std::unique_ptr<weft::transports::transport>> ways_;
  weft::tests::scripted_connector connector_;
  weft::proto::messenger messages_;
  std::uint32_t whole_budget_;
  std::stop_source stop_;
  std::size_t playing_ = 0;
  std::vector<std::shared_ptr<shared_memory>> hosted_;
  std::deque<weft::region_end_operation> region_ends_;  // of end_regions()
  std::vector<std::shared_ptr<service>> services_;
  bool had_inline_ = false;
  const std::function<bool(node)> is_busy_;
};

}  // namespace sim
