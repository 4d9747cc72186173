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
#include "api/mail_slot.hpp"
#include "proto/bundle.hpp"
#include "proto/messenger.hpp"
#include "transports/transport.hpp"
#include "wireup/connection_manager.hpp"
#include "wireup/contact.hpp"
#include "wireup/job.hpp"

namespace weft::detail {

/// Who is behind which peer, how links come to be, and what happens when a process goes. Lives on
/// the connection manager's thread: every function runs there unless it says otherwise, and takes
/// the baton where it touches peers or transports.
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
    mail_->open(cm);
  }

  /// How other threads reach the control plane's; shut before the manager ends.
  const std::shared_ptr<mail_slot>& mail() const noexcept { return mail_; }

  /// Any thread, baton held: the messenger wants a link to that peer.
  void want(proto::peer& p);

  /// Any thread, baton not held: the peer that has that contact. \throws std::bad_alloc
  std::shared_ptr<proto::peer> peer_at(const wireup::known_place& where);

  /// The peer behind a channel; known from now on. Null, and the channel is closed, if it says that
  /// it is somebody else.
  std::shared_ptr<proto::peer> peer_behind(const wireup::channel_ptr& c);
  /// The same for a channel that has just come about by address: a peer that the two have closed,
  /// or are closing, is not meant, and the next number is given.
  std::shared_ptr<proto::peer> peer_met(const wireup::channel_ptr& c);

  /// Any thread, baton held: both sides have closed it.
  void part(proto::peer& p) noexcept;

  /// Any thread, baton held: this side gives it up, and says so. \throws std::bad_alloc
  void given_up(proto::peer& p);

  void on_parcel(const wireup::channel_ptr& c, transports::parcel p);
  void on_gone(const wireup::channel_ptr& c, bool orderly);
  /// Its process has ended, says the launcher or rank 0.
  void on_rank_end(peer_id rank, bool died);
  /// It is no member of the job any more, but may have something to finish with those it has met.
  void on_leave(peer_id rank);
  /// The control plane had no memory for something: who waits for a link waits in vain.
  void on_exhausted();

  /// Who is still heard out ends now. Any thread, baton not held, once the manager has ended.
  void hear_no_more();

  /// Baton held. One line for people.
  std::string describe(const proto::peer& p) const;

  /// What came of a transport on the way to a peer, or of one of its links where it has several.
  struct attempt {
    std::string transport;
    std::string trouble;  ///< empty: it carries what is sent there
  };

  /// Baton held. All that were tried, in that order.
  std::vector<attempt> attempts(const proto::peer& p) const;

 private:
  enum class parcel_kind : std::uint8_t { offer = 1, answer, refusal, note, gone };

  /// How a peer ends that is heard out first.
  struct departure {
    errc why;
    std::string detail;
    std::chrono::steady_clock::time_point latest;
  };

  struct party {
    std::shared_ptr<proto::peer> peer;
    std::vector<wireup::channel_ptr> channels;  // that have not ended; with the last one it goes
    // Offered, not answered yet; more than one where the transport offers several links at once.
    std::vector<std::unique_ptr<transports::link>> opening;
    // Several links, from the first offer in either direction until the peer sends on them: then
    // they are the peer's.
    std::unique_ptr<proto::bundle> unused_bundle;
    bool bundle_hears = false;  // the peer sends, or may, on links that were accepted for it
    inbound_transport inbound;
    std::size_t next_way = 0;  // the transport to try next
    bool wants_link = false;
    bool tried_unix = false;  // whether a Unix socket reaches it, too, is known
    std::string no_unix;      // why none does
    std::uint64_t watch = 0;  // for its process's end; 0: none
    bool gone = false;
    std::optional<departure> leaving;  // it is gone, and being heard out
  };

  using party_map = std::multimap<wireup::context_id, party>;

  bool hear_out(const party& who);
  void hear_soon();
  void hear_all();
  void hear_no_more(const wireup::identity& who);
  bool is_heard_out(const proto::peer& p) const noexcept;
  party_map::iterator finish_leaving(party_map::iterator at);
  void finish(party& who, errc why, std::string_view detail, bool looks_on);
  party_map::iterator drop(party_map::iterator at);
  void end(party& who, errc why, std::string_view detail, bool looks_on = false);
  void cut_off(party& who, std::string_view what);
  void forget_attempts(const proto::peer& p, errc why);
  void give_up(party& who, errc why, std::string_view detail);
  std::optional<wireup::failure> reason_of(const proto::peer& p) const;
  void send_off(const wireup::channel_ptr& c, const proto::peer& p);
  bool tell(const std::shared_ptr<proto::peer>& lost);
  void on_given_up(party& who, const transports::parcel& told);
  std::string absent(peer_id rank) const;
  void connect(const std::shared_ptr<proto::peer>& p);
  void connect_to_place(const std::shared_ptr<proto::peer>& p);
  bool connect_to_known(const std::shared_ptr<proto::peer>& p);
  bool closed_meanwhile(const std::shared_ptr<proto::peer>& p);
  void look_for(const std::shared_ptr<proto::peer>& p, const std::string& gone,
                const wireup::failure& trouble);
  void on_connected(const std::shared_ptr<proto::peer>& p, const wireup::channel_ptr& c,
                    const wireup::failure& why, const std::string& locator);
  std::shared_ptr<proto::peer> stranger(const wireup::context_id& id, bool afresh = false);
  void open_self(const std::shared_ptr<proto::peer>& p);
  void try_soon(const party& who);
  void try_next_way(party& who);
  void offer_links(party& who, const wireup::channel_ptr& c);
  void use(party& who, std::unique_ptr<transports::link> made, std::size_t number,
           std::uint32_t credit);
  transports::inlet& inlet_for(party& who, std::size_t way, std::size_t number);
  void take_back(party& who) noexcept;
  std::string close_way_in(party& who, std::size_t next);
  void leave(const wireup::channel_ptr& c);
  proto::bundle* bundle_for(const proto::peer& p, std::size_t way) const noexcept;
  std::vector<transports::inlet*> inlets_for(proto::peer& p, std::size_t way) const;
  std::optional<std::size_t> way_at(std::uint16_t place) const noexcept;
  wireup::channel_ptr channel_for(const party& who, const transports::transport& t) const;
  void try_unix(party& who);
  void tried(const proto::peer& p, const way& w, std::string trouble);
  std::string refusals(const proto::peer& p);
  void on_offer(party& who, const wireup::channel_ptr& c, transports::parcel p);
  std::string take_offer(party& who, const wireup::channel_ptr& c, std::size_t index,
                         std::uint8_t number, std::uint8_t further, transports::parcel offer,
                         transports::parcel& answer);
  void on_answer(party& who, transports::parcel p, bool refused);
  transports::counterpart counterpart_of(const wireup::channel_ptr& c, std::size_t index,
                                         std::size_t number);
  void fail(const std::shared_ptr<proto::peer>& p, errc why, const std::string& detail);
  std::uint64_t watch_death(const wireup::channel_ptr& c);
  party_map::iterator party_with(const wireup::channel_ptr& c);
  party& party_for(const wireup::identity& who, bool afresh);
  std::shared_ptr<proto::peer> enter(const wireup::channel_ptr& c, bool afresh);
  void add(party& who, const wireup::channel_ptr& c);
  bool has_closed(peer_id rank) const;
  bool is_over(const proto::peer& p, bool afresh) const;
  bool is_sought(const proto::peer& p) const;
  bool is_ours(const wireup::identity& who) const noexcept;
  static bool has(const party& who, const wireup::channel_ptr& c) noexcept;
  bool is_impostor(const wireup::identity& who) const;
  bool is_other_program(const wireup::identity& who) const;
  bool is_self(const proto::peer& p) const noexcept;

  runtime::engine& engine_;
  proto::messenger& messenger_;
  std::vector<way>& ways_;
  const std::vector<std::pair<std::string, std::string>>& left_out_;
  const wireup::job& job_;
  wireup::connection_manager* manager_ = nullptr;
  const std::shared_ptr<mail_slot> mail_ = std::make_shared<mail_slot>();
  // Several of one context where it has connected again after a close, and old channels still end.
  party_map parties_;
  bool hears_soon_ = false;  // a timer runs, for those that are heard out

  // Peers that are no ranks: those that came, and those that may be met, and where.
  struct acquaintance {
    std::shared_ptr<proto::peer> peer;
    std::optional<wireup::known_place> where;
  };
  std::mutex strangers_mutex_;
  std::map<wireup::context_id, acquaintance> strangers_;  // guarded by strangers_mutex_

  std::map<const proto::peer*, std::vector<attempt>> attempts_;  // baton held
  // The same of peers that nothing reached, the last few: somebody may ask why. Baton held.
  static constexpr std::size_t most_unreached = 16;
  std::deque<std::pair<peer_id, std::vector<attempt>>> unreached_;
};

}  // namespace weft::detail
