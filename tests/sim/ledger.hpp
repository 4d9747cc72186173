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
  bool hostile_may_hold = false;  ///< it may stay pending because of a rank that breaks the rules
  std::function<bool(errc)> may_end;  ///< set: the reasons that are valid for it

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
  unsigned place = 0;  ///< in its stream: that of its source, destination and tag
  bool synchronous = false;
  const receive_record* taken_by = nullptr;
};

struct receive_record : record {
  weft::tag_mask tag = weft::any_tag;
  weft::received got;
  const message_record* message = nullptr;
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

  /// Whether a sender has no credit left with a receiver, so that its messages may wait. Set before
  /// the verdicts.
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

  /// Whether a rank has regions: that counts as one operation.
  void hosts(node at, bool any) { hosts_[at] = any; }

  // --- told by operations ---------------------------------------------------------------------

  void begun(record& r);
  void asked_to_stop(record& r);
  /// \return false: it had ended before
  bool ended(record& r, errc status);
  void ended(message_record& m);
  void ended(receive_record& r, const weft::received& got);
  /// \param told the word that was found, or the owner's notification
  void ended(access_record& a, std::uint64_t told);
  bool ends_twice() noexcept;  ///< asked once for each end that was not immediate

  // --- told by the source of the disasters ----------------------------------------------------

  /// From now on operations of `at` with `whom` may end with `how`, and messages between the two
  /// may be lost.
  void spoil(node at, node whom, errc how);
  void spoil_everything(node at, errc how) { spoiled_alone_[at].insert(how); }

  // --- verdicts -------------------------------------------------------------------------------

  /// Whether all of that memory is a buffer of a pending operation of that rank, or in a region.
  bool lends(node at, weft::const_buffer what) const;

  /// How many operations of a rank are pending, as far as was reported.
  std::uint64_t pending(node at) const;

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
  std::vector<record*> all_;  // in order of entry
  std::deque<message_record> messages_;
  std::deque<receive_record> receives_;
  std::deque<access_record> accesses_;
  std::deque<record> others_;
  std::map<stream, std::vector<message_record*>> streams_;  // in order of entry
  std::map<stream, unsigned> dropped_;   // how many were lost with stopped receives
  std::vector<receive_record*> posted_;  // in order of posting
  std::map<std::pair<node, node>, std::set<errc>> spoiled_;
  std::map<node, std::set<errc>> spoiled_alone_;
  std::map<node, std::int64_t> waiting_;
  std::map<node, bool> hosts_;
};

}  // namespace sim
