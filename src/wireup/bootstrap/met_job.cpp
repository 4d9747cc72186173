// SPDX-License-Identifier: Apache-2.0
// A job whose ranks meet at rank 0: their starter gave them numbers, and no directory.
#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weft/error.hpp>

#include "wireup/bootstrap/launched_job.hpp"
#include "wireup/bootstrap/rank_at_root.hpp"

namespace weft::wireup {

namespace {

constexpr auto time_until_word = std::chrono::seconds(5);  // until a line says who is waited for

class job_at_root final : public job {
 public:
  /// \param vacant the place that this process may take instead, if its rank was lost
  job_at_root(const given_rank& given, const launch_terms& terms,
              std::optional<vacant_place>& vacant)
      : given_(given),
        terms_(terms),
        loop_(std::make_shared<loop>([this] { part_->give_up(); }, terms.reports)),
        part_(std::make_unique<rank_at_root>(loop_, given, terms)) {
    try {
      vacant = enter(terms);
    } catch (...) {
      leave();
      throw;
    }
  }
  ~job_at_root() override { leave(); }

  context_id id() const noexcept override { return welcome_.job; }
  peer_id rank() const noexcept override { return given_.rank; }
  peer_id size() const noexcept override { return given_.size; }
  peer_id local_size() const noexcept override { return welcome_.local_size; }
  peer_id per_host() const noexcept override { return welcome_.per_host; }

  void publish(const std::string& locator) override {
    loop_->post([this, locator] { part_->member().publish(locator); });
  }

  void find(peer_id rank, std::function<void(std::string locator)> found) override {
    if (rank >= given_.size)
      throw error(errc::invalid_argument,
                  fmt::format("there is no rank {} in a job of {} processes", rank, given_.size));
    loop_->post([this, rank, found = std::move(found)] { part_->member().find(rank, found); });
  }

  void on_end(std::function<void(peer_id rank, bool died)> ended) override {
    loop_->post([this, ended = std::move(ended)]() mutable {
      part_->member().tell_ends(std::move(ended));
    });
  }

 private:
  std::optional<vacant_place> enter(const launch_terms& terms) {
    unique_fd listening = given_.rank == 0 ? root_listener::open(given_.root) : unique_fd();
    // Outlives the call that sets it.
    const auto told = std::make_shared<std::promise<root_member::outcome>>();
    std::future<root_member::outcome> its = told->get_future();
    loop_->post([this, told, socket = std::move(listening)]() mutable {
      part_->enter(std::move(socket),
                   [told](root_member::outcome o) { told->set_value(std::move(o)); });
    });
    const auto end = std::chrono::steady_clock::now() + terms.start_timeout;
    if (terms.start_timeout > time_until_word &&
        its.wait_for(time_until_word) == std::future_status::timeout)
      loop_->post([this] { part_->say_who_is_awaited(time_until_word); });
    // Rank 0 names those that are missing, and its time may have begun later.
    for (const bool at_last : {false, true})
      if (its.wait_until(at_last ? end + terms.start_timeout : end) == std::future_status::timeout)
        loop_->post([this, at_last] { part_->on_timeout(at_last); });
    root_member::outcome said = its.get();
    if (said.welcome) welcome_ = *said.welcome;
    if (said.welcome || said.vacant) return std::move(said.vacant);
    throw error(errc::unreachable,
                fmt::format("rank {} of {} ({}) has not entered its job: {}", given_.rank,
                            given_.size, name_of(given_.by), said.why));
  }

  /// Rank 0 stays until all others know where they find each other; a rank that is silent for the
  /// time after which a host is lost does not keep it.
  void leave() {
    const auto settled = std::make_shared<std::promise<void>>();
    std::future<void> done = settled->get_future();
    if (welcome_.size != 0 &&
        loop_->post([this, settled] { part_->when_settled([settled] { settled->set_value(); }); }))
      done.wait_for(terms_.peer_timeout);
    loop_->end([this] { part_->leave(); });
  }

  const given_rank given_;
  const launch_terms terms_;
  const std::shared_ptr<loop> loop_;
  const std::unique_ptr<rank_at_root> part_;
  root_welcome welcome_;
};

}  // namespace

std::unique_ptr<job> met_job(const given_rank& given, const launch_terms& terms) {
  if (terms.key.empty())
    throw error(
        errc::invalid_argument,
        fmt::format("rank {} of {} ({}) needs a job key to meet the other ranks; "
                    "give all of them the same one: export WEFT_JOB_KEY=$(openssl rand -hex "
                    "32){}",
                    given.rank, given.size, name_of(given.by),
                    given.by == starter::slurm ? ", or use srun --mpi=pmix" : ""));
  std::optional<vacant_place> vacant;
  auto met = std::make_unique<job_at_root>(given, terms, vacant);
  if (!vacant) return met;
  met.reset();
  return returned_job(*vacant, terms.way(), terms.reports);
}

}  // namespace weft::wireup
