// SPDX-License-Identifier: Apache-2.0
// A handler of one rank that another rank calls, as the oracle knows it: what each call says, what
// the handler does with it, and what the caller gets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <weft/coro/event.hpp>

#include "sim/ledger.hpp"
#include "support/dice.hpp"

namespace sim {

/// What the handler does with one call.
enum class conduct : std::uint8_t {
  answers,
  answers_late,  ///< after some microseconds, or milliseconds
  is_silent,     ///< ends without a reply: the caller gets an empty one
  throws,
  throws_late  ///< after its reply
};

/// Lives until the end of the run.
class service {
 public:
  /// \param longest bytes of the longest call and of the longest reply
  /// \param is_inline whether the handler is a function without a coroutine
  service(dice chance, std::uint32_t number, node caller, std::size_t longest, bool is_inline)
      : number(number),
        caller(caller),
        is_inline(is_inline),
        chance_(chance),
        longest_(std::max<std::size_t>(longest, sizeof(unsigned))) {}

  const std::uint32_t number;
  const node caller;
  const bool is_inline;
  bool registered = false;  ///< now
  bool ended = false;       ///< it was registered, and is no more
  weft::event closes;       ///< the handler is to end

  // --- the plan ---------------------------------------------------------------------------------

  bool one_way(unsigned i) const { return of(i).percent(25); }
  conduct conduct_of(unsigned i) const;
  nanoseconds work_of(unsigned i) const;
  /// The bytes of the call; the first ones tell its index.
  std::vector<std::byte> arguments(unsigned i) const;
  std::vector<std::byte> reply(unsigned i) const;
  /// The memory that the caller has for the reply.
  std::size_t room(unsigned i) const;
  std::string refusal(unsigned i) const { return std::string(of(i).part(9).one_of(texts), 'x'); }

  // --- what happens -----------------------------------------------------------------------------

  /// The caller starts a call.
  void begun(unsigned i);
  /// A handler begins with a call of the caller. \return the call's ticket
  unsigned entered() { return ++tickets_; }
  /// \return empty, or what is wrong
  std::string judge_arguments(weft::const_buffer bytes, unsigned ticket);
  /// The call whose arguments were last judged well for that ticket.
  std::optional<unsigned> index_of(unsigned ticket) const;
  /// Whether a call may end with that status for a reason of the service.
  bool excuses(const call_record& c, errc status) const;
  std::string judge_end(const call_record& c, std::size_t size) const;
  /// Called when no call is under way any more.
  std::string judge_order() const;
  /// Posts that have left, and were not served. \param left of these calls
  bool has_served(unsigned i) const { return tickets_of_.contains(i); }

 private:
  static constexpr std::size_t texts[] = {0, 5, 900, 3000};
  dice of(unsigned i) const { return chance_.part(100 + i); }
  std::vector<std::byte> bytes(dice d, std::size_t least) const;

  const dice chance_;
  const std::size_t longest_;
  unsigned tickets_ = 0;
  std::map<unsigned, unsigned> tickets_of_;  // by index
  std::map<unsigned, bool> was_registered_;  // when the call began, by index
  std::vector<unsigned> in_order_;           // the indices of the calls as they began
};

}  // namespace sim
