// SPDX-License-Identifier: Apache-2.0
// The oracle's account of messages and operations: which began, how they ended, which rank received
// what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <weft/message.hpp>

#include "sim/log.hpp"

namespace sim {

using fake::node;
using weft::errc;

/// An operation of a rank. Lives until the end of the run, so that an end that comes too late or
/// twice can be recorded, too.
struct record {
  unsigned number = 0;
  std::string_view what;
  node at = 0;
  std::optional<node> with;  ///< nothing: any source
  bool begun = false;
  bool asked_to_stop = false;
  unsigned ends = 0;
  errc status = errc::ok;
  std::vector<std::byte> memory;  ///< its buffer, with a margin behind it
  bool always_ends = false;       ///< as long as the other ranks of the operation are there
  bool answers = false;           ///< a part of the answer to a call, for which credit is kept
  bool hostile_may_hold = false;  ///< it may stay pending because of a rank that breaks the rules
  bool counted = true;            ///< by the engine, as one that is outstanding
  unsigned hides = 0;   ///< how many operations weft may have under way for it, not counting itself
  bool opaque = false;  ///< weft may have memory of its own for it
  std::function<bool(errc)> may_end;  ///< set: the reasons that are valid for it
  std::function<bool()> may_wait;     ///< set: whether there is a reason to wait at rest

  bool pending() const noexcept { return begun && ends == 0; }
  bool went_well() const noexcept {
    return ends != 0 && (status == errc::ok || status == errc::truncated);
  }
  weft::mutable_buffer buffer() noexcept;
  std::size_t size() const noexcept;
};

/// For people.
std::string name_of(const record& r);

struct receive_record;

struct message_record : record {
  std::uint64_t tag = 0;
  unsigned place = 0;  ///< in its stream: that of its source, destination and tag
  bool synchronous = false;
  const receive_record* taken_by = nullptr;
};

struct receive_record : record {
  weft::tag_mask tag = weft::any_tag;
  weft::received got;
  const message_record* message = nullptr;
};

class service;

/// A call, or a post, of a rank; its memory is for the reply.
struct call_record : record {
  std::shared_ptr<service> there;
  unsigned index = 0;                ///< among the calls of its service
  std::vector<std::byte> arguments;  ///< its bytes
  bool has_deadline = false;         ///< of which the handler learns
  std::function<bool()> has_left;    ///< while it waits: whether its request has begun to leave
};

/// What a handler does with a call: receives its arguments, or replies.
struct served_record : record {
  std::shared_ptr<service> there;
  unsigned ticket = 0;  ///< of the call, when its handler began
};

class shared_memory;

/// A put, get or atomic; or an operation on the region itself.
struct access_record : record {
  std::shared_ptr<shared_memory> there;
  unsigned slot = 0;
  std::function<void()> after;  ///< set: called when it has ended
};

/// Every message is delivered once, whole, in order per source and tag, or reported (also by a
/// receive that was stopped while it arrived). Every operation ends once and for a valid reason.
/// Every buffer is returned once. One per run.
class ledger {
 public:
  /// \param ends_twice the number of the end that is reported twice, as a planted fault; 0: none
  ledger(log& l, std::uint64_t ends_twice) noexcept : log_(l), ends_twice_(ends_twice) {}

  /// Whether a sender has no credit left for a message to a receiver, is owed none, and can be
  /// granted none, so that its messages may wait. Set before the verdicts.
  std::function<bool(node from, node to)> starved;

  /// A rank that breaks the rules: operations with it may end in any way, and need not end until
  /// `gone` holds for it. Set before anything begins.
  std::optional<node> hostile;
  std::function<bool(node at, node whom)> gone;

  // --- before an operation begins -------------------------------------------------------------

  message_record& new_message(node from, node to, std::uint64_t tag, std::size_t size,
                              bool synchronous);
  receive_record& new_receive(node at, std::optional<node> from, weft::tag_mask tag,
                              std::size_t room);
  receive_record& new_probe(node at, std::optional<node> from, weft::tag_mask tag);
  record& new_wait_for_end(node at, node whom);
  /// \param with nothing: an operation of a region's owner
  access_record& new_access(std::string_view what, node at, std::optional<node> with,
                            std::shared_ptr<shared_memory> there, std::size_t bytes);

  call_record& new_call(node at, node to, std::shared_ptr<service> there, unsigned index);
  served_record& new_served(std::string_view what, node at, node with,
                            std::shared_ptr<service> there, std::size_t bytes);
  /// \param with nothing: it concerns all members of a group
  record& new_collective(std::string_view what, node at);

  /// Whether a rank has regions: that counts as one operation.
  void hosts(node at, bool any) { hosts_[at] = any; }
  /// A rank may have so many operations more of which the ledger does not know.
  void hides(node at, unsigned more) { hidden_[at] += more; }
  /// A rank has so many handlers more: each counts as an operation.
  void serves(node at, int more) { waiting_[at] += more; }

  // --- told by operations ---------------------------------------------------------------------

  void begun(record& r);
  void asked_to_stop(record& r);
  /// \return false: it had ended before
  bool ended(record& r, errc status);
  void ended(message_record& m);
  void ended(receive_record& r, const weft::received& got);
  /// \param told the word that was found, or the owner's notification
  void ended(access_record& a, std::uint64_t told);
  /// \param size of the reply
  void ended(call_record& c, std::size_t size);
  void ended(served_record& s);
  bool ends_twice() noexcept;  ///< asked once for each end that was not immediate

  // --- told by the source of the disasters ----------------------------------------------------

  /// From now on operations of `at` with `whom` may end with `how`, and messages between the two
  /// may be lost.
  void spoil(node at, node whom, errc how);
  /// From now on `at` closes `whom`; the close waits for its sends.
  void closes(node at, node whom) { closes_.emplace(at, whom); }
  void spoil_everything(node at, errc how) { spoiled_alone_[at].insert(how); }

  // --- verdicts -------------------------------------------------------------------------------

  /// Whether all of that memory is a buffer of a pending operation of that rank, or in a region.
  bool lends(node at, weft::const_buffer what) const;

  /// How many operations of a rank are pending, as far as was reported.
  std::uint64_t pending(node at) const;
  /// How many operations weft may have under way for these.
  std::uint64_t hidden(node at) const;

  /// Whether operations between the two may fail.
  bool spoiled(node a, node b) const;
  /// Whether a rank has died, left or closed.
  bool spoiled_alone(node a) const { return spoiled_alone_.contains(a); }

  /// Nothing moves any more: no operation that could have ended may be pending. Only ranks for
  /// which `lives` holds are checked.
  template <class Lives>
  void at_rest(Lives lives) {
    for (record* r : all_)
      if (r->pending() && lives(r->at)) judge_waiting(*r);
  }
  /// All operations were asked to stop, or have lost their context.
  void at_end();

  std::size_t messages() const noexcept { return messages_.size(); }
  std::size_t delivered() const noexcept { return delivered_; }

 private:
  using stream = std::tuple<node, node, std::uint64_t>;  // from, to, tag

  template <class Record>
  Record& enter(std::deque<Record>& where, std::string_view what, node at, std::optional<node> with,
                std::size_t bytes);
  bool may_be_hostile(const record& r) const {
    return hostile && r.with.value_or(*hostile) == *hostile;
  }
  bool waits_to_close(node a, node b) const;
  bool waits_for_credit(const record& r) const;
  bool excused(const message_record& m, std::map<stream, unsigned>& before) const;
  bool may_end_like(const record& r, errc status) const;
  void judge_untouched(receive_record& r, std::size_t size);
  const message_record* recognise(const receive_record& r) const;
  bool can_match(const message_record& m, const receive_record& r) const;
  void judge_waiting(const record& r);
  void judge_order();
  void judge_buffer(record& r);
  void judge_services();

  log& log_;
  std::uint64_t ends_twice_;
  std::uint64_t ends_ = 0;
  std::size_t delivered_ = 0;
  std::vector<record*> all_;  // in order of entry
  std::deque<message_record> messages_;
  std::deque<receive_record> receives_;
  std::deque<access_record> accesses_;
  std::deque<call_record> calls_;
  std::deque<served_record> served_;
  std::deque<record> others_;
  std::map<stream, std::vector<message_record*>> streams_;  // in order of entry
  std::map<stream, unsigned> dropped_;   // how many were lost with stopped receives
  std::vector<receive_record*> posted_;  // in order of posting
  std::map<std::pair<node, node>, std::set<errc>> spoiled_;
  std::map<node, std::set<errc>> spoiled_alone_;
  std::set<std::pair<node, node>> closes_;
  std::map<node, std::int64_t> waiting_;
  std::map<node, std::int64_t> hidden_;
  std::map<node, bool> hosts_;
};

}  // namespace sim
