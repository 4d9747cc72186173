// SPDX-License-Identifier: Apache-2.0
// Jobs without a launcher: the job of a lone process, and that of a process that joined.
#include <utility>

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
  explicit joined(std::shared_ptr<coordinator_connection> line)
      : line_(std::move(line)), facts_(line_->facts()) {}

  context_id id() const noexcept override { return facts_.job; }
  peer_id rank() const noexcept override { return facts_.rank; }
  peer_id size() const noexcept override { return facts_.first_size; }
  peer_id local_size() const noexcept override { return 1; }
  bool launched() const noexcept override { return false; }
  void publish(const std::string& locator) override { line_->publish(locator); }
  void find(peer_id rank, std::function<void(std::string locator)> found) override {
    line_->find(rank, std::move(found));
  }
  void on_end(std::function<void(peer_id rank, bool died)>) override {}

 private:
  const std::shared_ptr<coordinator_connection> line_;
  const roster_welcome facts_;
};

}  // namespace

std::unique_ptr<job> lone_job(job_key key) { return std::make_unique<job_of_one>(std::move(key)); }

std::unique_ptr<job> joined_job(std::shared_ptr<coordinator_connection> line) {
  return std::make_unique<joined>(std::move(line));
}

}  // namespace weft::wireup
