// SPDX-License-Identifier: Apache-2.0
// Brings peers, channels and transports together.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/inbound_transport.hpp"
#include "api/manager_proxy.hpp"
#include "proto/messenger.hpp"
#include "proto/multi_rail_link.hpp"
#include "transports/transport.hpp"
#include "wireup/connection_manager.hpp"
#include "wireup/context_address.hpp"
#include "wireup/job.hpp"

namespace weft::detail {

/// Who is behind which peer, how links come to be, and what happens when a process goes. Lives on
/// the connection manager's thread: every function runs there unless it says otherwise, and takes
/// the progress lock where it touches peers or transports.
class links {
 public:
  /// A transport, and why it is (not) used.
  struct way {
    std::unique_ptr<transports::transport> transport;
    std::string name;
    /// Its place in options::transports, which is the same in all processes that talk to each
    /// other; what another one cannot use is missing there.
    std::uint16_t place = 0;
  };

  /// \param left_out names of transports that could not be made, and why
  links(runtime::engine& e, proto::messenger& m, std::vector<way>& ways,
        const std::vector<std::pair<std::string, std::string>>& left_out, const wireup::job& j)
      : engine_(e), messenger_(m), ways_(ways), left_out_(left_out), job_(j) {}

  /// Finds out where a rank is, as job::find, or, if it is not there any more, as job::find_next;
  /// set before anything is wanted.
  std::function<void(peer_id, const std::string& gone,
                     std::function<void(std::string locator)> found)>
      finder;

  /// Once, before anything else; the manager outlives the links' use.
  void attach(wireup::connection_manager& cm) {
    manager_ = &cm;
    manager_proxy_->open(cm);
  }

  /// How other threads reach the control plane's; shut before the manager ends.
  const std::shared_ptr<manager_proxy>& mail() const noexcept { return manager_proxy_; }

  /// Any thread, progress lock held: the messenger wants a link to that peer.
  void want(proto::peer& p);

  /// Any thread, progress lock not held: the peer that has that contact. \throws std::bad_alloc
  std::shared_ptr<proto::peer> peer_at(const wireup::unpacked_address& where);

  /// The peer behind a channel; known from now on. Null, and the channel is closed, if it says that
  /// it is somebody else.
  std::shared_ptr<proto::peer> peer_behind(const wireup::channel_ptr& c);
  /// The same for a channel that has just come about by address: a peer that the two have closed,
  /// or are closing, is not meant, and the next number is given.
  std::shared_ptr<proto::peer> peer_met(const wireup::channel_ptr& c);

  /// Any thread, progress lock held: both sides have closed it.
  void part(proto::peer& p) noexcept;

  /// Any thread, progress lock held: this side gives it up, and says so. \throws std::bad_alloc
  void given_up(proto::peer& p);

  void on_wireup_message(const wireup::channel_ptr& c, transports::wireup_message p);
  void on_gone(const wireup::channel_ptr& c, bool orderly);
  /// Its process has ended, says the launcher or rank 0.
  void on_rank_end(peer_id rank, bool died);
  /// It is no member of the job any more, but may have something to finish with those it has met.
  void on_leave(peer_id rank);
  /// The control plane had no memory for something: who waits for a link waits in vain.
  void on_exhausted();

  /// Who is still heard out ends now. Any thread, progress lock not held, once the manager has
  /// ended.
  void stop_draining();

  /// Progress lock held. One line for people.
  std::string describe(const proto::peer& p) const;

  /// What came of a transport on the way to a peer, or of one of its links where it has several.
  struct transport_attempt {
    std::string transport;
    std::string trouble;  ///< empty: it carries what is sent there
  };

  /// Progress lock held. All that were tried, in that order.
  std::vector<transport_attempt> attempts(const proto::peer& p) const;

 private:
  enum class wireup_message_kind : std::uint8_t { offer = 1, answer, refusal, note, gone };

  /// How a peer ends that is heard out first.
  struct drain_state {
    errc why;
    std::string detail;
    std::chrono::steady_clock::time_point latest;
  };

  struct remote_process {
    std::shared_ptr<proto::peer> peer;
    std::vector<wireup::channel_ptr> channels;  // that have not ended; with the last one it goes
    // Offered, not answered yet; more than one where the transport offers several links at once.
    std::vector<std::unique_ptr<transports::link>> opening;
    // Several links, from the first offer in either direction until the peer sends on them: then
    // they are the peer's.
    std::unique_ptr<proto::multi_rail_link> unused_multi_rail_link;
    bool multi_rail_receives = false;  // the peer sends, or may, on links that were accepted for it
    inbound_transport inbound;
    std::size_t next_way = 0;  // the transport to try next
    bool wants_link = false;
    bool tried_unix = false;  // whether a Unix socket reaches it, too, is known
    std::string no_unix;      // why none does
    std::uint64_t watch = 0;  // for its process's end; 0: none
    bool gone = false;
    std::optional<drain_state> draining;  // it is gone, and being heard out
  };

  using remote_process_map = std::multimap<wireup::context_id, remote_process>;

  bool drain_peer(const remote_process& who);
  void drain_soon();
  void drain_all_peers();
  void stop_draining(const wireup::identity& who);
  bool is_drained(const proto::peer& p) const noexcept;
  remote_process_map::iterator finish_drain(remote_process_map::iterator at);
  void finish(remote_process& who, errc why, std::string_view detail, bool keeps_peer);
  remote_process_map::iterator drop(remote_process_map::iterator at);
  void end(remote_process& who, errc why, std::string_view detail, bool keeps_peer = false);
  void cut_off(remote_process& who, std::string_view what);
  void forget_attempts(const proto::peer& p, errc why);
  void give_up(remote_process& who, errc why, std::string_view detail);
  std::optional<wireup::failure> reason_of(const proto::peer& p) const;
  void send_off(const wireup::channel_ptr& c, const proto::peer& p);
  bool tell(const std::shared_ptr<proto::peer>& lost);
  void on_given_up(remote_process& who, const transports::wireup_message& told);
  std::string absent(peer_id rank) const;
  void connect(const std::shared_ptr<proto::peer>& p);
  void connect_to_place(const std::shared_ptr<proto::peer>& p);
  bool connect_to_known(const std::shared_ptr<proto::peer>& p);
  bool closed_meanwhile(const std::shared_ptr<proto::peer>& p);
  void look_for(const std::shared_ptr<proto::peer>& p, const std::string& gone,
                const wireup::failure& trouble);
  void on_connected(const std::shared_ptr<proto::peer>& p, const wireup::channel_ptr& c,
                    const wireup::failure& why, const std::string& locator);
  std::shared_ptr<proto::peer> non_rank_peer(const wireup::context_id& id, bool afresh = false);
  void open_self(const std::shared_ptr<proto::peer>& p);
  void try_soon(const remote_process& who);
  void try_next_way(remote_process& who);
  void offer_links(remote_process& who, const wireup::channel_ptr& c);
  void use(remote_process& who, std::unique_ptr<transports::link> made, std::size_t number,
           std::uint32_t credit);
  transports::frame_sink& frame_sink_for(remote_process& who, std::size_t way, std::size_t number);
  void take_back(remote_process& who) noexcept;
  std::string close_way_in(remote_process& who, std::size_t next);
  void leave(const wireup::channel_ptr& c);
  proto::multi_rail_link* multi_rail_link_for(const proto::peer& p, std::size_t way) const noexcept;
  std::vector<transports::frame_sink*> frame_sinks_for(proto::peer& p, std::size_t way) const;
  std::optional<std::size_t> way_at(std::uint16_t place) const noexcept;
  wireup::channel_ptr channel_for(const remote_process& who, const transports::transport& t) const;
  void try_unix(remote_process& who);
  void tried(const proto::peer& p, const way& w, std::string trouble);
  std::string refusals(const proto::peer& p);
  void on_offer(remote_process& who, const wireup::channel_ptr& c, transports::wireup_message p);
  std::string take_offer(remote_process& who, const wireup::channel_ptr& c, std::size_t index,
                         std::uint8_t number, std::uint8_t further,
                         transports::wireup_message offer, transports::wireup_message& answer);
  void on_answer(remote_process& who, transports::wireup_message p, bool refused);
  transports::counterpart counterpart_of(const wireup::channel_ptr& c, std::size_t index,
                                         std::size_t number);
  void fail(const std::shared_ptr<proto::peer>& p, errc why, const std::string& detail);
  std::uint64_t watch_death(const wireup::channel_ptr& c);
  remote_process_map::iterator remote_process_with(const wireup::channel_ptr& c);
  remote_process& remote_process_for(const wireup::identity& who, bool afresh);
  std::shared_ptr<proto::peer> enter(const wireup::channel_ptr& c, bool afresh);
  void add(remote_process& who, const wireup::channel_ptr& c);
  bool has_closed(peer_id rank) const;
  bool is_over(const proto::peer& p, bool afresh) const;
  bool is_sought(const proto::peer& p) const;
  bool is_ours(const wireup::identity& who) const noexcept;
  static bool has(const remote_process& who, const wireup::channel_ptr& c) noexcept;
  bool is_impostor(const wireup::identity& who) const;
  bool is_other_program(const wireup::identity& who) const;
  bool is_self(const proto::peer& p) const noexcept;

  runtime::engine& engine_;
  proto::messenger& messenger_;
  std::vector<way>& ways_;
  const std::vector<std::pair<std::string, std::string>>& left_out_;
  const wireup::job& job_;
  wireup::connection_manager* manager_ = nullptr;
  const std::shared_ptr<manager_proxy> manager_proxy_ = std::make_shared<manager_proxy>();
  // Several of one context where it has connected again after a close, and old channels still end.
  remote_process_map remote_processes_;
  bool drain_scheduled_ = false;  // a timer runs, for those that are heard out

  // Peers that are no ranks: those that came, and those that may be met, and where.
  struct known_peer {
    std::shared_ptr<proto::peer> peer;
    std::optional<wireup::unpacked_address> where;
  };
  std::mutex non_rank_peers_mutex_;
  std::map<wireup::context_id, known_peer> non_rank_peers_;  // guarded by non_rank_peers_mutex_

  std::map<const proto::peer*, std::vector<transport_attempt>> attempts_;  // progress lock held
  // The same of peers that nothing reached, the last few: somebody may ask why. Progress lock held.
  static constexpr std::size_t most_unreached = 16;
  std::deque<std::pair<peer_id, std::vector<transport_attempt>>> unreached_;
};

}  // namespace weft::detail
