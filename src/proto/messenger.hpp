// SPDX-License-Identifier: Apache-2.0
// All tagged messages of a context: matching, budgets, peers.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <weft/claim.hpp>
#include <weft/metrics.hpp>
#include <weft/rendezvous.hpp>

#include "proto/match.hpp"
#include "proto/peer.hpp"
#include "proto/pool.hpp"
#include "proto/region_table.hpp"
#include "proto/secret.hpp"
#include "proto/stream_table.hpp"
#include "runtime/engine.hpp"

namespace weft::proto {

/// Choices that the protocols need. Sizes in bytes.
struct messenger_settings {
  std::size_t unexpected_budget = 0;
  std::size_t eager_limit = 0;
  std::uint64_t hashed_tag_bits = ~std::uint64_t{0};  ///< as options::hashed_tag_bits
  rendezvous_scheme rendezvous = rendezvous_scheme::automatic;
  rendezvous_eager_data inlined = rendezvous_eager_data::automatic;
  chained_fin chained = chained_fin::automatic;
  /// Numbers that no peer guesses; a simulation has its own, so that a run can be repeated.
  std::function<std::uint64_t()> secret = secret_word;
};

/// The protocol layer of a context. Owned by it. Functions take the progress lock themselves where
/// they say "any thread"; the others want it held.
class messenger final : public runtime::pollable {
 public:
  messenger(runtime::engine& engine, messenger_settings s);
  ~messenger() override;

  /// Asked, with the progress lock held, for a link to a peer. The answer is peer::opened or
  /// peer::fail, at any time and from any thread that holds the progress lock.
  std::function<void(peer&)> connector;

  /// Told, with the progress lock held, of a peer that has agreed to the end: nothing is on its way
  /// in either direction. May be empty.
  std::function<void(peer&)> on_parted;

  /// Told, with the progress lock held, of a peer that this side has given up and whose process may
  /// live and wait: what cannot go on here is to end there, too. May throw std::bad_alloc, and is
  /// told again at a later pass then. May be empty.
  std::function<void(peer&)> on_given_up;

  runtime::engine& engine() const noexcept { return engine_; }

  // --- any thread -----------------------------------------------------------------------------

  /// The peer with that number; made if it is new.
  /// \throws std::bad_alloc
  std::shared_ptr<peer> peer_of(peer_id id);
  /// Two at once, for a barrier, which asks in every step. To be named with their numbers: one that
  /// goes may be another one then.
  std::array<peer*, 2> peers_of(peer_id a, peer_id b);
  /// Whether a number is that of a rank, or a peer that came by address has or had it.
  bool has_given(peer_id id) const;
  /// With the next number from `ranks` on. Once it has gone and has no owner any more, its memory
  /// is another one's; of its number the reason is remembered, in one byte.
  /// \throws std::bad_alloc, weft::error (unsupported) when all numbers have been given
  std::shared_ptr<peer> new_peer();
  void reserve_ranks(peer_id ranks) noexcept { first_new_ = ranks; }

  bool start(detail::send_operation& op) noexcept;
  void cancel(detail::send_operation& op) noexcept;
  bool start(detail::recv_operation& op) noexcept;
  bool start(detail::probe_operation& op) noexcept;
  void cancel(detail::match_operation& op) noexcept;
  bool withdraw(detail::match_operation& op) noexcept;
  std::optional<received> try_probe(peer* from, tag_mask tag) noexcept;
  std::optional<claimed_message> try_claim(peer* from, tag_mask tag) noexcept;
  void discard(inbound_message& claimed) noexcept;
  metrics snapshot() const;

  // Memory that peers may reach (messenger_regions.cpp).
  /// \return its key \throws std::bad_alloc, weft::error (system)
  std::uint64_t add_region(mutable_buffer memory, rights permissions);
  /// \throws std::bad_alloc, weft::error (invalid_argument)
  void add_region(const region_name& name, mutable_buffer memory, rights permissions);
  /// Takes it back; waits for peers whose links are copying there.
  void end_region(std::uint64_t key) noexcept;
  bool start(detail::region_end_operation& op) noexcept;
  bool start(detail::notified_operation& op) noexcept;  ///< with the progress lock held
  void cancel(detail::notified_operation& op) noexcept;

  /// Whether a peer has yet to be told something, such as that its message was received.
  bool unsent() const noexcept;

  /// Whether a stream without a handle waits for its end. After close_all: not for long.
  bool streams_linger() const noexcept;

  /// Awaited until the peer is closed or lost.
  struct closed_request;
  class closed_operation;
  closed_request closed(peer& p) noexcept;

  /// One line about a peer for people; what `describer` says of an open one.
  std::string describe(const peer& p) const;
  std::function<std::string(const peer&)> describer;

  /// Why what named no peer could not begin, for people. \param tag what it was asked with
  static const char* names_nobody(std::uint64_t tag) noexcept;
  /// The same mask. \throws weft::error (invalid_argument) if it names a tag of weft's own
  static tag_mask checked(tag_mask t);

  /// One sentence for people about an operation with that peer (null: any) that failed.
  static std::string explain(errc status, detail::peer_name with, const received* got,
                             std::size_t room);

  // --- progress lock held
  // -----------------------------------------------------------------------------

  bool start_held(detail::recv_operation& op) noexcept;
  bool start_held(detail::probe_operation& op) noexcept;
  /// \param claimed null afterwards; null before: the message is not there any more
  static bool start_held(detail::claimed_operation& op, inbound_message*& claimed) noexcept;

  /// Ends everything with everybody. What begins later ends at once.
  void close_all() noexcept;
  /// Lets go of all peers and their links, after close_all.
  void forget_peers() noexcept {
    peers_.clear();
    free_list_.clear();
  }

  unsigned poll() noexcept override;
  bool has_work() noexcept override { return has_marked_peers_ || to_sweep_ || !yielded_.empty(); }
  void wake_peer() noexcept override {}

  /// Why there is no peer with that number: it was one of new_peer's.
  errc why_gone(peer_id id) const noexcept;

  /// Which streams are open.
  stream_table& streams() noexcept { return streams_; }

  region_table& regions() noexcept { return regions_; }
  /// For its owner. \return false: too many have not been taken, or there is no memory for it
  bool leave(region_entry& in, const notification& what) noexcept;
  /// A peer's link does not copy there any more.
  void granted_no_more(std::uint64_t key) noexcept;

  /// For peers and streams.
  match_table& table() noexcept { return table_; }
  pool<inbound_message>& messages() noexcept { return messages_; }
  const messenger_settings& settings() const noexcept { return settings_; }
  metrics& counts() noexcept { return counts_; }
  bool store(
      inbound_message& m) noexcept;  ///< memory for what is unexpected; false: none to be had
  void unstore(inbound_message& m) noexcept;
  void trim(inbound_message& m) noexcept;  ///< gives back what its memory has beyond `arrived`
  /// As many units as are left, at most `units`.
  std::uint32_t take_budget(std::uint32_t units) noexcept;
  /// For a peer that connects: never nothing, so that it may overdraw the budget.
  std::uint32_t first_budget() noexcept;
  void return_budget(std::uint32_t units) noexcept { budget_left_ += units; }

  /// Lets other peers have the engine before a long transfer goes on: `co_await yield()`.
  struct yield_waiter : waiter {
    messenger& at;
    explicit yield_waiter(messenger& m) noexcept : at(m) {}
    void await_suspend(std::coroutine_handle<> h) noexcept {
      self = h;
      at.yielded_.add(*this);
      at.worth_polling = true;
    }
    void await_resume() const noexcept {}
  };
  yield_waiter yield() noexcept { return yield_waiter(*this); }

  /// A peer is to fail at the next pass.
  void note_marked_peer() noexcept {
    has_marked_peers_ = true;
    owe_pass();
  }
  /// A peer was given up here.
  void given_up(peer& p) noexcept;
  /// That peer has gone, and messages of its are to be let go of at the next passes.
  void has_to_sweep(peer& p) noexcept {
    p.to_sweep = true;
    p.next_to_sweep = std::exchange(to_sweep_, &p);
    owe_pass();
  }
  /// One more peer, or one fewer, has something unsent (peer::unsent).
  void has_unsent(bool one_more) noexcept;
  /// There was no memory on the way to a link: those that wait for one fail.
  void fail_unconnected() noexcept;

 private:
  /// A pass has something to do here, although no operation may be outstanding.
  void owe_pass() noexcept {
    worth_polling = true;
    update_busy();
    engine_.look_after();
  }
  void update_busy() noexcept {
    busy = unsent_ != 0 || has_marked_peers_ || has_unreported_ || to_sweep_ != nullptr;
  }
  void fail_marked_peers() noexcept;
  void report_failures() noexcept;
  void sweep() noexcept;
  void swept() noexcept {
    to_sweep_->to_sweep = false;
    to_sweep_ = to_sweep_->next_to_sweep;
  }
  std::shared_ptr<peer> make_peer(peer_id id);
  const std::shared_ptr<peer>& known_or_new(peer_id id);
  void collect();
  std::string detail_of(detail::peer_name gone);
  errc no_message(const peer* from) const noexcept;
  void end_notified(region_entry& r) noexcept;
  region_entry* begin_end(std::uint64_t key) noexcept;
  void remove_region(std::uint64_t key) noexcept;
  template <class Match>
  bool start_match(detail::match_operation& op, Match match) noexcept;

  runtime::engine& engine_;
  const messenger_settings settings_;
  const std::int64_t budget_;  // in units, for all peers
  std::int64_t budget_left_;   // units that can still be granted to peers
  match_table table_;
  pool<inbound_message> messages_;
  stream_table streams_;
  region_table regions_;

  /// Pending while there are regions: as with a receive that is posted, a thread polls also while
  /// the application computes.
  class region_keepalive final : public operation {
   public:
    region_keepalive() noexcept : operation([](operation&) noexcept {}) {}
  } region_keepalive_;
  waiters yielded_;
  std::unordered_map<peer_id, std::shared_ptr<peer>> peers_;
  std::vector<std::shared_ptr<peer>> free_list_;  // gone, and to become others
  std::size_t collect_at_ = 0;                    // when there are so many, those that have gone go
  peer_id first_new_ = peer_id{1} << 31;
  std::vector<std::uint8_t> ends_;  // errc of each number that new_peer gave, once it is spare
  std::unordered_map<peer_id, std::uint8_t> rank_ends_;  // the same of ranks that are spare
  static constexpr const char* the_end = "the context has ended";
  bool over_ = false;  // close_all was called
  bool has_marked_peers_ = false;
  bool has_unreported_ = false;  // peers that on_given_up could not be told of
  peer* to_sweep_ = nullptr;     // the first of those
  std::size_t unsent_ = 0;       // peers with something unsent
  metrics counts_;
};

struct messenger::closed_request {
  using value_type = void;
  using operation_type = closed_operation;
  std::shared_ptr<peer> whom;
};

/// Waits for a peer's end; ends by peer::fail.
class messenger::closed_operation : public operation {
 public:
  closed_operation(const closed_request& r, complete_fn f) noexcept : operation(f), whom_(r.whom) {}
  bool start() noexcept;
  void cancel() noexcept;
  void take() const noexcept {}
  std::string explain() const { return "stopped on request"; }

 private:
  const std::shared_ptr<peer> whom_;
  bool waiting_ = false;
  bool cancel_requested_ = false;
};

inline auto messenger::closed(peer& p) noexcept -> closed_request { return {p.shared_from_this()}; }

}  // namespace weft::proto
