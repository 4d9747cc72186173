// SPDX-License-Identifier: Apache-2.0
// Jobs without a launcher: the job of a lone process, and those of processes that came later.
#include <fmt/format.h>

#include <chrono>
#include <future>
#include <utility>

#include <weft/error.hpp>

#include "wireup/job/coordinator_connection.hpp"
#include "wireup/job/job.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

namespace {

/// A job of one, which others may join.
class job_of_one final : public job {
 public:
  explicit job_of_one(job_key key) : key_(std::move(key)) {}

  context_id id() const noexcept override { return id_; }
  peer_id rank() const noexcept override { return 0; }
  peer_id size() const noexcept override { return 1; }
  peer_id local_size() const noexcept override { return 1; }
  bool launched() const noexcept override { return false; }
  job_key key() const override { return key_; }
  void publish(const std::string&) override {}
  void find(peer_id, std::function<void(std::string locator)> found) override { found({}); }
  void on_end(std::function<void(peer_id rank, bool died)>) override {}

 private:
  const context_id id_ = random_id();
  const job_key key_;
};

/// Rank 0 plays the part of its launcher. The coordinator connection tells the members which ranks
/// have ended.
class joined final : public job {
 public:
  /// \param taken the place that it takes; one without a root: none
  joined(std::shared_ptr<coordinator_connection> line, const vacant_place& taken)
      : line_(std::move(line)), facts_(line_->facts()), taken_(taken) {}

  context_id id() const noexcept override { return facts_.job; }
  peer_id rank() const noexcept override { return facts_.rank; }
  peer_id place() const noexcept override { return launched() ? taken_.place : facts_.rank; }
  peer_id size() const noexcept override { return facts_.first_size; }
  peer_id local_size() const noexcept override { return taken_.local_size; }
  bool launched() const noexcept override { return !taken_.root.empty(); }
  std::shared_ptr<coordinator_connection> line() const override { return line_; }
  void publish(const std::string& locator) override { line_->publish(locator); }
  void find(peer_id rank, std::function<void(std::string locator)> found) override {
    line_->find(rank, std::move(found));
  }
  void on_end(std::function<void(peer_id rank, bool died)>) override {}

 private:
  const std::shared_ptr<coordinator_connection> line_;
  const roster_welcome facts_;
  const vacant_place taken_;
};

}  // namespace

std::unique_ptr<job> lone_job(job_key key) { return std::make_unique<job_of_one>(std::move(key)); }

std::unique_ptr<job> joined_job(std::shared_ptr<coordinator_connection> line) {
  return std::make_unique<joined>(std::move(line), vacant_place{});
}

std::unique_ptr<job> returned_job(const vacant_place& where, tcp_settings way,
                                  runtime::log_ptr reports) {
  const std::chrono::seconds timeout = way.peer_timeout;
  auto line = std::make_shared<coordinator_connection>(std::move(way), where.job, no_peer,
                                                       std::move(reports));
  const auto answer = std::make_shared<std::promise<failure>>();
  std::future<failure> its = answer->get_future();
  line->come_back(where.root, where.place,
                  [answer](const failure& why) { answer->set_value(why); });
  if (its.wait_for(timeout) != std::future_status::ready) {
    line->end();
    throw error(errc::unreachable,
                fmt::format("rank {} of {} was lost, and rank 0 has not let this process take its "
                            "place for {} s (WEFT_PEER_TIMEOUT): rank 0 may be very busy, or "
                            "another process has the place",
                            where.place, where.size, timeout.count()));
  }
  if (const failure why = its.get(); why.kind != errc::ok)
    throw error(why.kind, fmt::format("rank {} of {} was lost, and this process cannot take its "
                                      "place: {}",
                                      where.place, where.size, why.text));
  return std::make_unique<joined>(std::move(line), where);
}

}  // namespace weft::wireup
