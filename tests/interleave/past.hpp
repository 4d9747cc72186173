// SPDX-License-Identifier: Apache-2.0
// The stores of a run in the order in which they reached the memory, and which of them each thread
// knows: what a load may find in place of the newest value.
#pragma once

#include <atomic>
#include <bitset>
#include <cstddef>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <vector>

namespace interleave {

inline bool acquires(std::memory_order how) {
  return how != std::memory_order_relaxed && how != std::memory_order_release;
}
inline bool releases(std::memory_order how) {
  return how == std::memory_order_release || how == std::memory_order_acq_rel ||
         how == std::memory_order_seq_cst;
}

/// C++'s memory, but for a load that finds the value of a store that its thread's later stores lead
/// to. All words have one order of stores.
class past {
 public:
  static constexpr std::size_t most = 512;  // stores of a run
  using stores = std::bitset<most>;         // by their numbers

  /// What a thread knows.
  struct view {
    stores known;     ///< its loads do not miss them
    stores at_fence;  ///< it knows these, too, after its next acquire fence
    stores told;      ///< its relaxed stores tell of them: a release fence came behind them
  };

  /// \param told by the store that it replaces: a locked instruction continues a release sequence
  void put(view& by, std::byte* at, const std::byte* from, std::size_t n, std::memory_order how,
           stores told = {}) {
    const std::size_t number = all_.size();
    if (number == most) throw std::logic_error("a run has too many stores");
    by.known.set(number);
    told |= releases(how) ? by.known : by.told;
    told.set(number);
    if (how == std::memory_order_seq_cst) strict_.set(number);
    all_.push_back({at, {at, at + n}, told});
    std::memcpy(at, from, n);
  }

  /// A locked instruction finds the newest value. \return what that store tells
  stores newest(view& of, const std::byte* at, std::size_t n, std::memory_order how) {
    for (std::size_t i = all_.size(); i-- != 0;)
      if (all_[i].overlaps(at, n)) {
        learn(of, i, how);
        return all_[i].told;
      }
    return {};
  }

  /// The stores to that place that the thread may miss, the newest first; then the one that it does
  /// not miss, if there is one.
  struct candidates {
    std::vector<std::size_t> unseen;
    std::optional<std::size_t> seen;
  };
  candidates look(const view& of, const std::byte* at, std::size_t n, std::memory_order how) const {
    const stores known = how == std::memory_order_seq_cst ? of.known | fenced_ | strict_ : of.known;
    candidates c;
    for (std::size_t i = all_.size(); i-- != 0 && !c.seen;)
      if (all_[i].overlaps(at, n)) {
        if (known.test(i))
          c.seen = i;
        else
          c.unseen.push_back(i);
      }
    return c;
  }

  /// The thread misses the first `back` of them. \param to what is in the memory, and then what the
  /// thread finds. A piece of several words is found as it was at one moment
  void find(view& of, const candidates& c, unsigned back, const std::byte* at, std::byte* to,
            std::size_t n, std::memory_order how) {
    for (unsigned k = 0; k != back; ++k) {
      const entry& s = all_[c.unseen[k]];
      for (std::size_t i = 0; i != s.before.size(); ++i)
        if (s.at + i >= at && s.at + i < at + n) to[s.at + i - at] = s.before[i];
    }
    const std::optional<std::size_t> found =
        back == c.unseen.size() ? c.seen : std::optional(c.unseen[back]);
    if (found) learn(of, *found, how);
  }

  void fence(view& of, std::memory_order how) {
    if (acquires(how)) of.known |= of.at_fence;
    if (how == std::memory_order_seq_cst) {
      of.known |= fenced_ | strict_;
      fenced_ |= of.known;
    }
    if (releases(how)) of.told = of.known;
  }

  /// The thread passes a fence, after all others have.
  void learn_all(view& of) {
    for (std::size_t i = 0; i != all_.size(); ++i) of.known.set(i);
    of.told = of.known;
    fenced_ |= of.known;
  }

  /// The memory belongs to a new object, which has no past.
  void forget(const std::byte* at, std::size_t n) {
    for (entry& s : all_)
      if (s.overlaps(at, n)) s.before.clear();
  }

 private:
  struct entry {
    std::byte* at;
    std::vector<std::byte> before;
    stores told;  // what a thread learns by an acquire of it

    bool overlaps(const std::byte* other, std::size_t n) const {
      return at < other + n && other < at + before.size();
    }
  };

  void learn(view& of, std::size_t number, std::memory_order how) {
    of.known.set(number);
    (acquires(how) ? of.known : of.at_fence) |= all_[number].told;
  }

  std::vector<entry> all_;
  stores fenced_;  // known to a thread that passes a sequentially consistent fence
  stores strict_;  // sequentially consistent stores
};

}  // namespace interleave
