// SPDX-License-Identifier: Apache-2.0
#include "oracle.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <new>
#include <stdexcept>

#include "board.hpp"
#include "excuses.hpp"
#include "gauge.hpp"
#include "honest.hpp"
#include "scene.hpp"
#include "victim.hpp"

namespace hostile {

namespace {

constexpr std::int64_t millisecond = 1'000'000;

// docs/testing.md, "A hostile peer".
constexpr std::int64_t hang = 30'000 * millisecond;  // of time in which the machine ran
constexpr std::uint64_t most_heap = unexpected_budget + (std::uint64_t{8} << 20);
constexpr std::uint64_t most_resident = std::uint64_t{96} << 20;
constexpr std::uint64_t most_descriptors = 400;
// Of the pipe by which `tcp` lends memory on one host: made once, for the first message that is
// long enough, which need not come before the first seed.
constexpr std::uint64_t made_once = 2;
// Those of disposal: four that may block, each with one that ends in its place, and one for memory;
// and as many that are about to end.
constexpr std::uint64_t most_threads = 18;
// The bytes that are kept for each peer that has gone, and the memory that the heap reuses soon.
constexpr std::uint64_t kept_of_each = 200, noise = 1024 * 1024;

/// A child process of this program. Killed and reaped by the destructor at the latest.
class process {
 public:
  template <class Role>
  process(std::string name, Role role) : name_(std::move(name)) {
    std::fflush(nullptr);
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) throw std::runtime_error("fork failed");
    if (pid_ != 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    std::exit(role());
  }
  ~process() { kill(); }
  process(const process&) = delete;
  process& operator=(const process&) = delete;

  bool ended() {
    if (pid_ > 0 && ::waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = 0;
    return pid_ == 0;
  }
  bool well() const { return pid_ == 0 && WIFEXITED(status_) && WEXITSTATUS(status_) == 0; }
  std::string how() const {
    if (WIFSIGNALED(status_))
      return fmt::format("{} was ended by signal {} ({})", name_, WTERMSIG(status_),
                         ::strsignal(WTERMSIG(status_)));
    return fmt::format("{} ended with status {}", name_, WEXITSTATUS(status_));
  }
  /// The kinds of its descriptors, and how many of each kind there are.
  std::map<std::string, int> descriptors() const {
    std::map<std::string, int> all;
    std::error_code fault;
    const std::filesystem::path folder = fmt::format("/proc/{}/fd", pid_);
    for (const auto& entry : std::filesystem::directory_iterator(folder, fault)) {
      std::string kind = std::filesystem::read_symlink(entry.path(), fault).string();
      std::erase_if(kind, [](char c) { return c >= '0' && c <= '9'; });
      ++all[kind];
    }
    return all;
  }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
    pid_ = 0;
  }

 private:
  const std::string name_;
  pid_t pid_ = 0;
  int status_ = 0;
};

/// To be called again and again; knows how long the machine has let this process run.
class pace {
 public:
  explicit pace(board& on) : board_(on) {}
  void step() {
    constexpr std::int64_t usual = 200'000, late = 10 * millisecond;
    const timespec nap{0, usual};
    ::nanosleep(&nap, nullptr);
    const std::int64_t t = now(), took = t - last_;
    if (took > late) board_.machine_stood += took - usual;
    ran_ += std::min(took, late);
    last_ = t;
  }
  std::int64_t ran() const noexcept { return ran_; }

 private:
  board& board_;
  std::int64_t last_ = now();
  std::int64_t ran_ = 0;
};

class oracle {
 public:
  oracle(const settings& s, board& b, const std::function<void(const verdict&)>& shown)
      : settings_(s), board_(b), shown_(shown) {}

  verdict judge() {
    if (set_up()) play();
    if (result_.good()) wind_up();
    if (!result_.good()) read_complaints();
    result_.rounds = board_.honest[0].rounds + board_.honest[1].rounds;
    result_.requesters = board_.requesters;
    for (const honest_notes& h : board_.honest)
      result_.slowest = std::max(result_.slowest, static_cast<double>(h.slowest) / 1e6);
    return std::move(result_);
  }

 private:
  bool set_up() {
    victim_ = std::make_unique<process>("the victim", [&] {
      // The victim prints a line for each connection that it ends.
      if (!settings_.trace) ::dup2(complaints_.get(), STDERR_FILENO);
      return be_victim(board_, settings_);
    });
    if (!wait([&] { return board_.ready != 0; }, "the victim did not open its listeners"))
      return false;
    for (std::size_t i = 0; i != board_.honest.size(); ++i)
      honest_[i] = std::make_unique<process>(fmt::format("honest peer {}", i),
                                             [&, i] { return be_honest(board_, settings_, i); });
    return wait([&] { return board_.honest[0].rounds != 0 && board_.honest[1].rounds != 0; },
                "honest peers do not get on");
  }

  void play() {
    result_.at = settings_.first;
    for (std::uint64_t i = 0; i != warm_ups + settings_.seeds; ++i) {
      if (i >= warm_ups) result_.at = settings_.first + i - warm_ups;
      if (!attacker_) start_attacker();
      board_.allowed = i + 1;
      if (!wait([&] { return board_.ended > i || attacker_->ended(); }, "the attacker hangs"))
        return;
      if (attacker_->ended()) {
        if (!attacker_->well()) return wrong(attacker_->how());
        board_.ended = i + 1;
        attacker_.reset();
      }
      settles_ = true;
      fresh_ = false;
      if (i < warm_ups ? !learn() : !all_returned()) return;
      settles_ = false;
      if (settings_.trace)
        std::printf("victim: bytes %llu descriptors %llu\n",
                    static_cast<unsigned long long>(held_.heap),
                    static_cast<unsigned long long>(held_.descriptors));
      if (i < warm_ups) continue;
      ++result_.played;
      if (shown_) shown_(result_);
    }
  }

  void start_attacker() {
    attacker_ =
        std::make_unique<process>("the attacker", [&] { return be_attacker(board_, settings_); });
  }

  /// Records what the victim holds after a tame visit; the last visit counts.
  bool learn() {
    constexpr unsigned enough = 5;
    for (unsigned same = 0; same != enough; pace_.step()) {
      if (!watch()) return false;
      if (!std::exchange(fresh_, false)) continue;
      const holdings before = std::exchange(usual_, held_);
      same = before.descriptors == usual_.descriptors ? same + 1 : 0;
      if (same != 0) usual_.heap = std::min(usual_.heap, before.heap);
    }
    usual_descriptors_ = victim_->descriptors();
    return true;
  }

  bool all_returned() {
    const std::uint64_t heap = usual_.heap + noise + kept_of_each * board_.requesters;
    const auto returned = [&] {
      return fresh_ && held_.heap <= heap && held_.descriptors <= usual_.descriptors + made_once &&
             held_.threads <= usual_.threads &&
             (!mapped_memory_counts() || held_.mappings <= usual_.mappings + 40);
    };
    return wait(returned, "the attacker has gone, and not all of it has returned", [&] {
      return fmt::format(
          "bytes {} of {}, descriptors {} of {}{}, threads {} of {}, mappings {} of {}", held_.heap,
          heap, held_.descriptors, usual_.descriptors, more_descriptors(), held_.threads,
          usual_.threads, held_.mappings, usual_.mappings + 40);
    });
  }

  /// The kinds of which there are more than usual.
  std::string more_descriptors() {
    std::string text;
    for (const auto& [kind, count] : victim_->descriptors())
      if (const int more = count - usual_descriptors_[kind]; more > 0)
        text += fmt::format("{}{} more of {}", text.empty() ? " (" : ", ", more, kind);
    return text.empty() ? text : text + ")";
  }

  /// Checks all conditions that must hold at any time. \return false: one does not hold
  bool watch() {
    if (victim_->ended()) return wrong(victim_->how() + said(board_.trouble)), false;
    if (board_.trouble.get().size() != 0) return wrong(std::string(board_.trouble.get())), false;
    for (std::size_t i = 0; i != honest_.size(); ++i) {
      honest_notes& notes = board_.honest[i];
      if (!honest_[i]) continue;
      if (honest_[i]->ended()) return wrong(honest_[i]->how() + said(notes.trouble)), false;
      if (std::exchange(rounds_[i], notes.rounds.load()) != notes.rounds) moved_[i] = pace_.ran();
      if (notes.rounds == rounds_[i] && pace_.ran() - moved_[i] > hang)
        return wrong(fmt::format("honest peer {} waits for an answer for ever", i)), false;
      if (notes.slowest > settings_.slowest * millisecond && excuses::known()) {
        result_.only_slow = true;
        return wrong(fmt::format("a round trip of honest peer {} took {} ms, of which only {} ms "
                                 "are explained by what else the machine did",
                                 i, notes.whole / millisecond,
                                 (notes.whole - notes.slowest) / millisecond)),
               false;
      }
    }
    // Each question costs the victim a moment.
    const std::int64_t since = now() - asked_;
    if (since < (settles_ ? millisecond / 2 : 5 * millisecond)) return true;
    asked_ = now();
    fresh_ = true;
    if (!ask(board_, held_, settles_)) return wrong("the victim's gauge does not answer"), false;
    const auto beyond = [&](const char* what, std::uint64_t has, std::uint64_t usual,
                            std::uint64_t more) {
      if (usual == 0 || has <= usual + more) return false;
      wrong(fmt::format("the victim holds {} {}, {} more than usual; {} are allowed", has, what,
                        has - usual, more));
      return true;
    };
    return !beyond("bytes", held_.heap, usual_.heap, most_heap) &&
           !(mapped_memory_counts() &&
             beyond("resident bytes", held_.resident, usual_.resident, most_resident)) &&
           !beyond("descriptors", held_.descriptors, usual_.descriptors, most_descriptors) &&
           !beyond("threads", held_.threads, usual_.threads, most_threads);
  }

  /// Reads what else the victim, or its sanitizer, has printed.
  void read_complaints() {
    constexpr std::size_t most_lines = 60;
    std::ifstream in(fmt::format("/proc/self/fd/{}", complaints_.get()));
    std::size_t lines = 0;
    for (std::string line; std::getline(in, line) && lines != most_lines;)
      if (!line.starts_with("weft: the connection of") && ++lines != 0)
        result_.violations.push_back("| " + line);
  }

  static std::string said(const text& t) {
    return t.get().size() == 0 ? std::string() : fmt::format(": {}", t.get());
  }

  template <class Condition, class Detail>
  bool wait(Condition holds, const char* what, Detail detail) {
    const std::int64_t until = pace_.ran() + hang;
    for (;;) {
      if (board_.ready == 0 ? victim_->ended() : !watch()) {
        if (result_.good()) wrong(victim_->how() + said(board_.trouble));
        return false;
      }
      if (holds()) return true;
      if (pace_.ran() > until) {
        const std::string more = detail();
        return wrong(more.empty() ? std::string(what) : fmt::format("{}: {}", what, more)), false;
      }
      pace_.step();
    }
  }
  template <class Condition>
  bool wait(Condition holds, const char* what) {
    return wait(holds, what, [] { return std::string(); });
  }

  /// Ends in good order, so that a sanitizer searches for leaks.
  void wind_up() {
    if (!wait([&] { return attacker_ == nullptr || attacker_->ended(); },
              "the attacker does not end"))
      return;
    board_.please_end = 1;
    for (auto& one : honest_) end(*one, "an honest peer does not end");
    board_.please_end = 2;
    end(*victim_, "the victim does not end");
  }

  void end(process& one, const char* what) {
    const std::int64_t until = pace_.ran() + hang;
    while (!one.ended()) {
      if (pace_.ran() > until) return wrong(what);
      pace_.step();
    }
    if (!one.well()) wrong(one.how() + said(board_.trouble));
  }

  void wrong(std::string what) { result_.violations.push_back(std::move(what)); }

  const settings& settings_;
  board& board_;
  const std::function<void(const verdict&)>& shown_;
  verdict result_;
  pace pace_{board_};
  std::unique_ptr<process> victim_, attacker_;
  std::array<std::unique_ptr<process>, 2> honest_;
  std::array<std::uint64_t, 2> rounds_{};
  std::array<std::int64_t, 2> moved_{};
  holdings held_, usual_;
  std::map<std::string, int> usual_descriptors_;  // by kind
  std::int64_t asked_ = 0;                        // when the victim was asked last
  bool fresh_ = false;                            // held_ has not been checked
  bool settles_ = false;                          // the attacker's seed is over
  const weft::unique_fd complaints_{::memfd_create("complaints", MFD_CLOEXEC)};
};

}  // namespace

verdict run(const settings& s, const std::function<void(const verdict&)>& shown) {
  void* const at =
      ::mmap(nullptr, sizeof(board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED) throw std::runtime_error("no memory for the board");
  board& b = *new (at) board;
  verdict result;
  try {
    result = oracle(s, b, shown).judge();
  } catch (...) {
    ::munmap(at, sizeof(board));
    throw;
  }
  ::munmap(at, sizeof(board));
  return result;
}

}  // namespace hostile
