// SPDX-License-Identifier: Apache-2.0
// A job whose directory is kept by a PMIx launcher: mpirun, prun, or srun with Slurm's plug-in.
#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>
#include <weft/error.hpp>

#include "wireup/job/even_hosts.hpp"
#include "wireup/job/job.hpp"
#include "wireup/loop/loop.hpp"
#include "wireup/sockets/locator.hpp"
#include "wireup/sockets/unix_socket.hpp"

#ifdef WEFT_HAVE_PMIX
#include "wireup/job/pmix_library.hpp"
#endif

namespace weft::wireup {

#ifdef WEFT_HAVE_PMIX

namespace {

constexpr auto ask_again_time = std::chrono::milliseconds(20);
constexpr auto patience = std::chrono::seconds(5);  // until a line says who is waited for

/// The launcher waits for a rank that has published nothing yet: for two seconds if that rank is on
/// its own host (PMIx 4). And between two of its own checks it may answer that there is nothing.
bool is_not_yet(pmix_status_t status) noexcept {
  return status == PMIX_ERR_NOT_FOUND || status == PMIX_ERR_TIMEOUT;
}

/// The launcher keeps a value that was put under a name until the job's end. So a program that
/// makes one context after the other, as all its ranks do, needs a new name for each. PMIx exists
/// once per process, and so does this count.
unsigned next_generation() {
  static std::atomic<unsigned> count{0};
  return count.fetch_add(1, std::memory_order_relaxed);
}

/// What a rank publishes: "<job's id> <job's key> <locator>"; id and key are rank 0's.
struct card {
  context_id id;
  job_key key;
  std::string locator;
};

std::string to_text(const card& c) {
  return fmt::format("{} {} {}", to_text(c.id), c.key.to_text(), c.locator);
}

std::optional<card> card_from(std::string_view text) {
  const std::size_t first = text.find(' ');
  const std::size_t second = first == text.npos ? first : text.find(' ', first + 1);
  if (second == text.npos) return std::nullopt;
  const auto id = id_from_text(text.substr(0, first));
  card c;
  c.locator = text.substr(second + 1);
  if (!id || !parse_locator(c.locator)) return std::nullopt;
  c.id = *id;
  try {
    c.key =
        job_key::from_text(text.substr(first + 1, second - first - 1), "the launcher's directory");
  } catch (const error&) {
    return std::nullopt;
  }
  return c;
}

class launched_by_pmix final : public job {
 public:
  launched_by_pmix(const job_key& chosen, runtime::log_ptr reports)
      : log_(std::move(reports)), directory_(std::make_shared<directory>()) {
    directory& d = *directory_;
    d.home = this;
    d.check(d.library.init(&d.self, nullptr, 0), "PMIx_Init",
            "does the launcher still run, and is it of PMIx 3 or newer? unset PMIX_NAMESPACE to "
            "run the process alone");
    try {
      size_ = d.number(PMIX_JOB_SIZE);
      local_size_ = d.number(PMIX_LOCAL_SIZE);
      per_host_ = local_size_ == size_ ? size_ : ranks_of_each_host(d.hosts(size_));
      name_ = fmt::format("weft.{}", next_generation());
      if (rank() == 0) {
        card_.id = random_id();
        card_.key = chosen.empty() ? job_key::random() : chosen;
      } else {
        card_ = card_of_first();
      }
    } catch (...) {
      d.library.finalize(nullptr, 0);
      throw;
    }
  }

  ~launched_by_pmix() override {
    directory_->close();
    loop_.end([this] {
      later_.clear();
      tick_.cancel();
    });
    directory_->library.finalize(nullptr, 0);
  }

  context_id id() const noexcept override { return card_.id; }
  peer_id rank() const noexcept override { return directory_->self.rank; }
  peer_id size() const noexcept override { return size_; }
  peer_id local_size() const noexcept override { return local_size_; }
  peer_id per_host() const noexcept override { return per_host_; }
  job_key key() const override { return card_.key; }

  void publish(const std::string& locator) override {
    card mine = card_;
    mine.locator = locator;
    std::string text = to_text(mine);
    pmix_value_t value{};
    value.type = PMIX_STRING;
    value.data.string = text.data();
    directory& d = *directory_;
    d.check(d.library.put(PMIX_GLOBAL, name_.c_str(), &value), "PMIx_Put", "");
    d.check(d.library.commit(), "PMIx_Commit", "");
  }

  void find(peer_id rank, std::function<void(std::string locator)> found) override {
    if (rank >= size_)
      throw error(errc::invalid_argument,
                  fmt::format("there is no rank {} in a job of {} processes", rank, size_));
    auto q = std::make_unique<directory::question>();
    q->at = directory_;
    q->rank = rank;
    q->found = [found = std::move(found)](pmix_status_t, const std::optional<card>& its) {
      found(its ? its->locator : std::string());
    };
    ask_from_loop(std::move(q));
  }

  /// The launcher ends the whole job when a rank dies, unless it was told not to. In that case the
  /// channels find the end.
  void on_end(std::function<void(peer_id rank, bool died)>) override {}

 private:
  /// No card although the status is good: what is there is not of this version of weft.
  using found_handler = std::function<void(pmix_status_t, const std::optional<card>&)>;

  /// Shared with pending questions: an answer may come on the library's thread at any time.
  struct directory {
    struct question {
      std::weak_ptr<directory> at;
      peer_id rank = no_peer;
      found_handler found;
    };

    void check(pmix_status_t status, const char* call, const char* cure) const {
      if (status == PMIX_SUCCESS) return;
      throw error(errc::unreachable,
                  fmt::format("the PMIx launcher's directory failed: {}: {}{}{}", call,
                              library.error_string(status), *cure ? "; " : "", cure));
    }

    pmix_proc_t whom(pmix_rank_t rank) const {
      pmix_proc_t p = self;
      p.rank = rank;
      return p;
    }

    peer_id number(const char* key) const {
      const pmix_proc_t everybody = whom(PMIX_RANK_WILDCARD);
      pmix_value_t* value = nullptr;
      check(library.get(&everybody, key, nullptr, 0, &value), key, "");
      const std::unique_ptr<pmix_value_t, decltype(&std::free)> keep(value, &std::free);
      if (value->type != PMIX_UINT32) check(PMIX_ERR_BAD_PARAM, key, "");
      return value->data.uint32;
    }

    /// Where each rank runs, as the launcher has told at the start; empty: this one does not tell.
    std::vector<std::uint32_t> hosts(peer_id size) const {
      pmix_info_t only_local{};
      std::strncpy(only_local.key, PMIX_OPTIONAL, PMIX_MAX_KEYLEN);
      only_local.value.type = PMIX_BOOL;
      only_local.value.data.flag = true;
      std::map<std::string, std::uint32_t> numbers;
      std::vector<std::uint32_t> all;
      for (peer_id r = 0; r != size; ++r) {
        const pmix_proc_t who = whom(r);
        pmix_value_t* value = nullptr;
        if (library.get(&who, PMIX_HOSTNAME, &only_local, 1, &value) != PMIX_SUCCESS) return {};
        const std::unique_ptr<pmix_value_t, decltype(&std::free)> keep(value, &std::free);
        if (value->type != PMIX_STRING) return {};
        const std::unique_ptr<char, decltype(&std::free)> name(value->data.string, &std::free);
        const auto next = static_cast<std::uint32_t>(numbers.size());
        all.push_back(numbers.try_emplace(name.get(), next).first->second);
      }
      return all;
    }

    /// On the library's thread.
    static void answered(pmix_status_t status, pmix_value_t* value, void* asked) {
      std::unique_ptr<question> q(static_cast<question*>(asked));
      const auto at = q->at.lock();
      if (!at) return;
      const std::lock_guard lock(at->mutex);
      if (!at->home) return;
      if (is_not_yet(status)) return at->home->ask_later(std::move(q));
      std::optional<card> c;
      if (status == PMIX_SUCCESS && value->type == PMIX_STRING) c = card_from(value->data.string);
      q->found(status, c);
    }

    /// Afterwards no handler runs, and none will run.
    void close() {
      const std::lock_guard lock(mutex);
      home = nullptr;
    }

    const pmix_library library;
    pmix_proc_t self{};
    std::mutex mutex;
    launched_by_pmix* home = nullptr;  // guarded by mutex; null once it ends
  };

  /// Waits for rank 0, which waits for no other rank before it publishes its card. Launchers
  /// neither answer for a rank that has ended nor tell of its end.
  card card_of_first() {
    using reply = std::promise<std::pair<pmix_status_t, std::optional<card>>>;
    const auto answer = std::make_shared<reply>();  // outlives the call that sets it
    auto its = answer->get_future();
    auto q = std::make_unique<directory::question>();
    q->at = directory_;
    q->rank = 0;
    q->found = [answer](pmix_status_t status, const std::optional<card>& c) {
      answer->set_value({status, c});
    };
    ask_from_loop(std::move(q));
    if (its.wait_for(patience) == std::future_status::timeout)
      log_->warning(
          "rank {} waits until rank 0 makes its context; do all ranks of the job use weft, and "
          "does "
          "rank 0 still run?",
          rank());
    const auto [status, found] = its.get();
    directory_->check(status, "PMIx_Get", "");
    if (!found)
      throw error(errc::protocol_error,
                  "what rank 0 put into the launcher's directory is not of this version of weft");
    return *found;
  }

  void ask_from_loop(std::unique_ptr<directory::question> q) {
    loop_.post([this, q = std::move(q)]() mutable { ask(std::move(q)); });
  }

  void ask(std::unique_ptr<directory::question> q) {
    const directory& d = *directory_;
    const pmix_proc_t who = d.whom(q->rank);
    const pmix_status_t status =
        d.library.get_nb(&who, name_.c_str(), nullptr, 0, &directory::answered, q.get());
    if (status == PMIX_SUCCESS)
      static_cast<void>(q.release());  // `answered` owns it
    else if (is_not_yet(status))
      ask_later(std::move(q));
    else
      q->found(status, {});
  }

  void ask_later(std::unique_ptr<directory::question> q) {
    loop_.post([this, q = std::move(q)]() mutable {
      later_.push_back(std::move(q));
      if (later_.size() > 1) return;
      tick_.expires_after(ask_again_time);
      tick_.async_wait([this](const asio::error_code&) {
        for (auto& one : std::exchange(later_, {})) ask(std::move(one));
      });
    });
  }

  const runtime::log_ptr log_;
  const std::shared_ptr<directory> directory_;
  loop loop_{[] {}, log_};
  asio::steady_timer tick_{loop_.io()};  // the loop's thread only, as the next member
  std::vector<std::unique_ptr<directory::question>> later_;
  peer_id size_ = 0;
  peer_id local_size_ = 0;
  peer_id per_host_ = 0;
  std::string name_;  // the ranks publish their cards under this name
  card card_;         // without a locator
};

}  // namespace

std::unique_ptr<job> pmix_job(const job_key& chosen, runtime::log_ptr reports) {
  if (std::getenv("PMIX_NAMESPACE") == nullptr) return nullptr;
  return std::make_unique<launched_by_pmix>(chosen, std::move(reports));
}

#else

std::unique_ptr<job> pmix_job(const job_key&, runtime::log_ptr) { return nullptr; }

#endif

}  // namespace weft::wireup
