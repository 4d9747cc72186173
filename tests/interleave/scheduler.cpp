// SPDX-License-Identifier: Apache-2.0
#include "scheduler.hpp"

#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "past.hpp"

namespace interleave {

namespace {

constexpr std::size_t stack_bytes = 64 * 1024;
constexpr unsigned most_steps = 20'000;  // of one run: a thread that takes more never ends

/// Depth-first over all sequences of choices: takes the first choice everywhere, then the next one
/// at the last place that has a further choice.
class choices {
 public:
  unsigned of(unsigned n) {
    if (n <= 1) return 0;
    if (next_ == made_.size()) made_.push_back({0, n});
    if (made_[next_].n != n) throw std::logic_error("the scenario is not the same in each run");
    return made_[next_++].chosen;
  }
  bool another() {
    next_ = 0;
    while (!made_.empty() && made_.back().chosen + 1 == made_.back().n) made_.pop_back();
    if (made_.empty()) return false;
    ++made_.back().chosen;
    return true;
  }

 private:
  struct choice {
    unsigned chosen, n;
  };
  std::vector<choice> made_;
  std::size_t next_ = 0;
};

using stacks = std::vector<std::unique_ptr<std::byte[]>>;  // reused by each run

struct delayed {
  std::byte* at;
  std::vector<std::byte> bytes;
  bool release;

  bool overlaps(const std::byte* other, std::size_t n) const {
    return at < other + n && other < at + bytes.size();
  }
};

struct fiber {
  ucontext_t context;
  std::byte* stack = nullptr;
  std::function<void()> body;
  std::function<bool()> until;   // the condition that it waits for
  std::optional<unsigned> seen;  // it waits for a change after this one
  bool ended = false;
  std::vector<delayed> buffer;
  past::view view;           // with `stale`
  bool found_older = false;  // since it last waited
};

struct alias {
  std::byte* at;
  std::size_t n;
  unsigned long key;
  std::byte* first;
};

class one_run final : public run {
 public:
  one_run(const bounds& within, choices& which, stacks& s)
      : left_(within), ages_(within.stale > 0), choices_(which), stacks_(s) {}

  unsigned thread(std::function<void()> body) override {
    auto f = std::make_unique<fiber>();
    f->body = std::move(body);
    if (stacks_.size() == fibers_.size()) stacks_.emplace_back(new std::byte[stack_bytes]);
    f->stack = stacks_[fibers_.size()].get();
    fibers_.push_back(std::move(f));
    return static_cast<unsigned>(fibers_.size() - 1);
  }
  void at_end(std::function<void()> look) override { looks_.push_back(std::move(look)); }

  void all() {
    for (auto& f : fibers_) {
      getcontext(&f->context);
      f->context.uc_stack = {f->stack, 0, stack_bytes};
      f->context.uc_link = &main_;
      makecontext(&f->context, &one_run::begin, 0);
    }
    for (unsigned step = 0; next_step(); ++step)
      if (step == most_steps) failure_ = "a thread never ends";
    if (failure_.empty()) {
      try {
        for (auto& look : looks_) look();
      } catch (const broken& b) {
        failure_ = b.what();
      }
    }
  }
  const std::string& failure() const { return failure_; }

  bool in_fiber() const { return current_ != nullptr; }
  fiber& self() { return *current_; }

  void yield() {
    fiber& me = *current_;
    swapcontext(&me.context, &main_);
  }

  void load(const std::byte* at, void* to, std::size_t n, std::memory_order how) {
    at = first_name(at);
    std::memcpy(to, at, n);
    if (!current_) return;
    if (ages_) return maybe_older(at, static_cast<std::byte*>(to), n, how);
    for (const delayed& d : current_->buffer)
      for (std::size_t i = 0; i != d.bytes.size(); ++i)
        if (d.at + i >= at && d.at + i < at + n)
          static_cast<std::byte*>(to)[d.at + i - at] = d.bytes[i];
  }

  void store(std::byte* at, const std::byte* from, std::size_t n, std::memory_order how) {
    at = first_name(at);
    if (!current_) return static_cast<void>(std::memcpy(at, from, n));
    if (ages_) {
      past_.put(current_->view, at, from, n, how);
      return changed();
    }
    const bool release = releases(how);
    // A store to the same place must stay behind the delayed one; so must a release behind all
    // delayed stores.
    auto& buffer = current_->buffer;
    const bool must = std::any_of(buffer.begin(), buffer.end(),
                                  [&](const delayed& d) { return release || d.overlaps(at, n); });
    if (must || (left_.delays > 0 && choices_.of(2) == 1)) {
      if (!must) --left_.delays;
      buffer.push_back({at, {from, from + n}, release});
    } else {
      std::memcpy(at, from, n);
      ++changes_;
    }
    if (how == std::memory_order_seq_cst) drain(*current_);
  }

  void drain(fiber& f) {
    while (!f.buffer.empty()) take_out(f, 0);
  }
  /// A locked instruction. \param wanted null: it does not store
  void change(std::byte* at, const std::byte* wanted, std::size_t n, std::memory_order how) {
    at = first_name(at);
    past::stores told;
    if (current_ && ages_) told = past_.newest(current_->view, at, n, how);
    if (!wanted) return;
    if (current_ && ages_)
      past_.put(current_->view, at, wanted, n, how, told);
    else
      std::memcpy(at, wanted, n);
    changed();
  }
  void begin_life(std::byte* at, std::size_t n) { past_.forget(first_name(at), n); }

  void fence(std::memory_order how) {
    if (how == std::memory_order_seq_cst) drain(*current_);
    if (ages_) past_.fence(current_->view, how);
  }
  void fence_all() {
    for (auto& f : fibers_) {
      drain(*f);
      past_.learn_all(f->view);
    }
  }
  unsigned any_of(unsigned n) { return choices_.of(n); }
  void kill(unsigned thread) {
    fibers_[thread]->ended = true;
    ++changes_;
  }
  bool gone(unsigned thread) {
    const bool is = fibers_[thread]->ended && fibers_[thread]->buffer.empty();
    if (is && current_) past_.learn_all(current_->view);
    return is;
  }
  void changed() { ++changes_; }
  unsigned changes() const { return changes_; }

  void same_memory(std::byte* at, std::size_t n, unsigned long key) {
    std::erase_if(aliases_, [&](const alias& a) { return a.at == at; });
    std::byte* first = at;
    for (const alias& a : aliases_)
      if (a.key == key) first = a.first;
    aliases_.push_back({at, n, key, first});
  }

 private:
  static void begin();

  void maybe_older(const std::byte* at, std::byte* to, std::size_t n, std::memory_order how) {
    fiber& me = *current_;
    const past::candidates c = past_.look(me.view, at, n, how);
    const bool may = !c.unseen.empty() && left_.stale > 0;
    const unsigned back = may ? choices_.of(static_cast<unsigned>(c.unseen.size()) + 1) : 0;
    past_.find(me.view, c, back, at, to, n, how);
    if (back == 0) return;
    --left_.stale;
    me.found_older = true;
  }

  std::byte* first_name(const std::byte* at) const {
    for (const alias& a : aliases_)
      if (at >= a.at && at < a.at + a.n) return a.first + (at - a.at);
    return const_cast<std::byte*>(at);
  }

  void take_out(fiber& f, std::size_t i) {
    const delayed d = std::move(f.buffer[i]);
    f.buffer.erase(f.buffer.begin() + static_cast<std::ptrdiff_t>(i));
    std::memcpy(d.at, d.bytes.data(), d.bytes.size());
    ++changes_;
  }

  bool can_go_on(const fiber& f) const {
    if (f.ended) return false;
    if (f.until) return f.until();
    return !f.seen || *f.seen != changes_;
  }

  /// \return false: the run is over
  bool next_step() {
    if (!failure_.empty()) return false;
    struct option {
      fiber* who;
      std::optional<std::size_t> take_out;
      bool interrupts;
    };
    std::vector<option> options;
    const bool goes_on = last_ && can_go_on(*last_);
    if (goes_on) options.push_back({last_, {}, false});
    if (!goes_on || left_.preemptions > 0)
      for (auto& f : fibers_)
        if (f.get() != last_ && can_go_on(*f)) options.push_back({f.get(), {}, goes_on});
    for (auto& f : fibers_)
      for (std::size_t i = 0; i != f->buffer.size(); ++i) {
        const delayed& d = f->buffer[i];
        const auto before = f->buffer.begin() + static_cast<std::ptrdiff_t>(i);
        if ((d.release && i != 0) || std::any_of(f->buffer.begin(), before, [&](const delayed& e) {
              return e.overlaps(d.at, d.bytes.size());
            }))
          continue;
        options.push_back({f.get(), i, false});
      }
    if (options.empty()) {
      for (auto& f : fibers_)
        if (!f->ended) failure_ = "all wait, and nobody will wake them";
      return false;
    }
    const option chosen = options[choices_.of(static_cast<unsigned>(options.size()))];
    if (chosen.take_out) {
      take_out(*chosen.who, *chosen.take_out);
      if (left_.together && *chosen.take_out == 0) drain(*chosen.who);
      return true;
    }
    if (chosen.interrupts) --left_.preemptions;
    last_ = chosen.who;
    last_->until = nullptr;
    last_->seen.reset();
    current_ = last_;
    swapcontext(&main_, &last_->context);
    current_ = nullptr;
    return true;
  }

  bounds left_;
  const bool ages_;  // loads may find older values
  past past_;
  choices& choices_;
  stacks& stacks_;
  ucontext_t main_{};
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<std::function<void()>> looks_;
  std::vector<alias> aliases_;
  fiber* current_ = nullptr;
  fiber* last_ = nullptr;
  unsigned changes_ = 0;
  std::string failure_;
};

// The substitutes have no other way to find the run.
one_run* now = nullptr;

void one_run::begin() {
  fiber& me = now->self();
  try {
    me.body();
  } catch (const broken& b) {
    now->failure_ = b.what();
  }
  me.ended = true;
  ++now->changes_;
}

bool scheduled() { return now && now->in_fiber(); }

}  // namespace

report explore(const bounds& within, const std::function<void(run&)>& scenario) {
  report r;
  choices which;
  stacks used;
  do {
    auto one = std::make_unique<one_run>(within, which, used);
    now = one.get();
    scenario(*one);
    one->all();
    now = nullptr;
    ++r.runs;
    r.failure = one->failure();
    // Destructors of what has failed may wait for a thread that never goes on: it is left.
    if (!r.failure.empty()) static_cast<void>(one.release());
    r.cut_off = r.failure.empty() && r.runs == within.most_runs;
    if (r.cut_off) r.failure = "more runs than allowed";
  } while (r.failure.empty() && which.another());
  return r;
}

void point() {
  if (scheduled()) now->yield();
}
void point_of_change() {
  point();
  if (scheduled()) now->drain(now->self());
}
void load(const void* at, void* to, std::size_t n, std::memory_order how) {
  point();
  if (now)
    now->load(static_cast<const std::byte*>(at), to, n, how);
  else
    std::memcpy(to, at, n);
}
void look(const void* at, void* to, std::size_t n) {
  if (now)
    now->load(static_cast<const std::byte*>(at), to, n, std::memory_order_relaxed);
  else
    std::memcpy(to, at, n);
}
void store(void* at, const void* from, std::size_t n, std::memory_order how) {
  point();
  if (now)
    now->store(static_cast<std::byte*>(at), static_cast<const std::byte*>(from), n, how);
  else
    std::memcpy(at, from, n);
}
void change(void* at, const void* wanted, std::size_t n, std::memory_order how) {
  if (now)
    now->change(static_cast<std::byte*>(at), static_cast<const std::byte*>(wanted), n, how);
  else if (wanted)
    std::memcpy(at, wanted, n);
}
void begin_life(const void* at, std::size_t n) {
  if (now) now->begin_life(static_cast<std::byte*>(const_cast<void*>(at)), n);
}
void fence(std::memory_order how) {
  if (scheduled()) now->fence(how);
}
void fence_all() {
  if (scheduled()) now->fence_all();
}
void changed() {
  if (now) now->changed();
}
void wait_for_change() {
  if (!scheduled()) return;
  // What it found may be out of date already: then it looks again.
  if (!std::exchange(now->self().found_older, false)) now->self().seen = now->changes();
  now->yield();
}
void wait_until(const std::function<bool()>& holds) {
  if (!scheduled()) return;
  now->self().until = holds;
  now->yield();
}
unsigned any_of(unsigned n) { return now ? now->any_of(n) : 0; }
void kill(unsigned thread) {
  point();
  if (now) now->kill(thread);
}
bool gone(unsigned thread) { return now && now->gone(thread); }
void same_memory(const void* at, std::size_t n, unsigned long key) {
  if (now) now->same_memory(static_cast<std::byte*>(const_cast<void*>(at)), n, key);
}

}  // namespace interleave
