// SPDX-License-Identifier: Apache-2.0
// The oracle's book of messages and operations: what was begun, how it ended, who got what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/message.hpp>

#include "sim/log.hpp"

namespace sim {

using fake::node;
using weft::errc;

/// An operation of a rank. Lives until the end of the run, so that also an end that comes too late
/// or twice can be written down.
struct record {
  unsigned number = 0;
  std::string_view what;
  node at = 0;
  std::optional<node> with;  ///< nothing: any source
  bool begun = false;
  bool asked_to_stop = false;
  unsigned ends = 0;
  errc status = errc::ok;
  std::vector<std::byte> memory;      ///< its buffer, with a margin behind it
  bool always_ends = false;           ///< while those whom it is with are there
  bool hostile_may_hold = false;      ///< but for a rank that keeps no rules
  std::function<bool(errc)> may_end;  ///< set: reasons of its own

  bool pending() const noexcept { return begun && ends == 0; }
  bool went_well() const noexcept {
    return ends != 0 && (status == errc::ok || status == errc::truncated);
  }
  weft::mutable_buffer buffer() noexcept;
  std::size_t size() const noexcept;
};

struct receive_record;

struct message_record : record {
  std::uint64_t tag = 0;
  unsigned place = 0;  ///< in its stream: of this source, destination and tag
  bool synchronous = false;
  const receive_record* taken_by = nullptr;
};

struct receive_record : record {
  weft::tag_mask tag = weft::any_tag;
  weft::received got;
  const message_record* message = nullptr;
};

class shared_memory;

/// A put, get or atomic; or what has to do with the region itself.
struct access_record : record {
  std::shared_ptr<shared_memory> there;
  unsigned slot = 0;
  std::function<void()> after;  ///< set: when it has ended
};

/// Every message is delivered once, whole, in order per source and tag, or reported (also by a
/// receive that was stopped while it arrived); every
/// operation ends once and for a reason; every buffer is returned once. One per run.
class ledger {
 public:
  /// \param ends_twice the number of the end that is told twice, to plant a fault; 0: none
  ledger(log& l, std::uint64_t ends_twice) noexcept : log_(l), ends_twice_(ends_twice) {}

  /// Whether a sender has no credit left with a receiver, so that its messages may wait. Set before
  /// verdicts.
  std::function<bool(node from, node to)> starved;

  /// A rank that keeps no rules: what is done with it may end in any way, and need not end while
  /// `gone` does not hold for it. Set before anything begins.
  std::optional<node> hostile;
  std::function<bool(node at, node whom)> gone;

  // --- before an operation begins -------------------------------------------------------------

  message_record& new_message(node from, node to, std::uint64_t tag, std::size_t size,
                              bool synchronous);
  receive_record& new_receive(node at, std::optional<node> from, weft::tag_mask tag,
                              std::size_t room);
  receive_record& new_probe(node at, std::optional<node> from, weft::tag_mask tag);
  record& new_wait_for_end(node at, node whom);
  /// \param with nothing: what a region's owner does
  access_record& new_access(std::string_view what, node at, std::optional<node> with,
                            std::shared_ptr<shared_memory> there, std::size_t bytes);

  /// Whether a rank has regions: that counts as one operation.
  void hosts(node at, bool any) { hosts_[at] = any; }

  // --- told by operations ---------------------------------------------------------------------

  void begun(record& r);
  void asked_to_stop(record& r);
  /// \return false: it had ended before
  bool ended(record& r, errc status);
  void ended(message_record& m);
  void ended(receive_record& r, const weft::received& got);
  /// \param told the word that was found, or what the owner was told
  void ended(access_record& a, std::uint64_t told);
  bool ends_twice() noexcept;  ///< asked once per end that did not come at once

  // --- told by whoever makes the disasters ----------------------------------------------------

  /// From now on operations of `at` with `whom` may end like that, and messages between the two
  /// may be lost.
  void spoil(node at, node whom, errc how);
  void spoil_everything(node at, errc how) { spoiled_alone_[at].insert(how); }

  // --- verdicts -------------------------------------------------------------------------------

  /// Whether all of that memory is a buffer of an operation of that rank that waits, or in a
  /// region.
  bool lends(node at, weft::const_buffer what) const;

  /// How many operations of a rank wait, as far as it was told.
  std::uint64_t pending(node at) const;

  /// Nothing moves any more: nothing that could have ended may wait. Only ranks that `lives` holds
  /// for are looked at.
  template <class Lives>
  void at_rest(Lives lives) {
    for (record* r : all_)
      if (r->pending() && lives(r->at)) judge_waiting(*r);
  }
  /// Everything has been asked to stop, or has lost its context.
  void at_end();

  std::size_t messages() const noexcept { return messages_.size(); }
  std::size_t delivered() const noexcept { return delivered_; }

 private:
  using stream = std::tuple<node, node, std::uint64_t>;  // from, to, tag

  template <class Record>
  Record& enter(std::deque<Record>& where, std::string_view what, node at, std::optional<node> with,
                std::size_t bytes);
  bool spoiled(node a, node b) const;
  bool may_be_hostile(const record& r) const {
    return hostile && r.with.value_or(*hostile) == *hostile;
  }
  bool excused(const message_record& m, std::map<stream, unsigned>& before) const;
  bool may_end_like(const record& r, errc status) const;
  void judge_untouched(receive_record& r, std::size_t size);
  const message_record* recognise(const receive_record& r) const;
  bool can_match(const message_record& m, const receive_record& r) const;
  void judge_waiting(const record& r);
  void judge_order();
  void judge_buffer(record& r);

  log& log_;
  std::uint64_t ends_twice_;
  std::uint64_t ends_ = 0;
  std::size_t delivered_ = 0;
  std::vector<record*> all_;  // in order of being entered
  std::deque<message_record> messages_;
  std::deque<receive_record> receives_;
  std::deque<access_record> accesses_;
  std::deque<record> others_;
  std::map<stream, std::vector<message_record*>> streams_;  // in order of being entered
  std::map<stream, unsigned> dropped_;   // how many went with receives that were stopped
  std::vector<receive_record*> posted_;  // in order of posting
  std::map<std::pair<node, node>, std::set<errc>> spoiled_;
  std::map<node, std::set<errc>> spoiled_alone_;
  std::map<node, std::int64_t> waiting_;
  std::map<node, bool> hosts_;
};

}  // namespace sim
