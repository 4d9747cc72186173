// SPDX-License-Identifier: Apache-2.0
#include "api/core/control_plane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/core/core.hpp"
#include "api/core/listener_state.hpp"
#include "runtime/descriptors/standard_descriptors.hpp"
#include "wireup/auth/context_address.hpp"
#include "wireup/bootstrap/launched_job.hpp"
#include "wireup/loop/retry_on_bad_alloc.hpp"

namespace weft::detail {

namespace {

wireup::job_key key_of(const options& o) {
  if (!o.job_key.empty())
    return wireup::job_key::from_text(o.job_key, "options::job_key (WEFT_JOB_KEY)");
  if (!o.job_key_file.empty()) return wireup::job_key::from_file(o.job_key_file);
  return {};
}

/// Never null.
std::unique_ptr<wireup::job> job_of(const options& o,
                                    const std::shared_ptr<wireup::coordinator_connection>& line,
                                    const runtime::log_ptr& reports) {
  runtime::keep_standard_numbers();  // the first descriptors of a context follow
  if (line) return wireup::joined_job(line);
  if (o.standalone)
    return wireup::lone_job(wireup::job_key::random(wireup::context_address_key_bytes));
  std::unique_ptr<wireup::job> launched = wireup::launched_job(
      {key_of(o), o.start_timeout, o.peer_timeout, o.tcp_tls, o.socket_dir, reports});
  if (launched && launched->size() > proto::most_ranks)
    throw error(errc::unsupported, fmt::format("the job has {} ranks, and can have {}",
                                               launched->size(), proto::most_ranks));
  return launched ? std::move(launched) : wireup::lone_job();
}

std::shared_ptr<wireup::renewable_certificates> certificates_of(const tls_files& files,
                                                                const wireup::encryption& by) {
  if (by.is_off())
    throw error(errc::invalid_argument,
                "certificates (WEFT_TLS_CERTIFICATE) are of no use with WEFT_TCP_TLS=no, which "
                "encrypts nothing: leave one of the two out");
  return std::make_shared<wireup::renewable_certificates>(files);
}

}  // namespace

wireup::tcp_settings tcp_settings_of(const options& o, const wireup::job* j) {
  wireup::tcp_settings tcp;
  if (j) tcp.key = j->key();
  if (tcp.key.empty())
    tcp.key = key_of(o);
  else if (o.standalone)
    tcp.listener_key = key_of(o);
  tcp.interfaces = o.tcp_interfaces;
  tcp.peer_timeout = o.peer_timeout;
  tcp.names = wireup::socket_names(o.socket_dir, !tcp.key.empty());
  tcp.encryption = std::make_shared<wireup::encryption>(o.tcp_tls);
  if (!o.tls.empty()) tcp.certificates = certificates_of(o.tls, *tcp.encryption);
  return tcp;
}

control_plane::control_plane(const options& chosen,
                             const std::shared_ptr<wireup::coordinator_connection>& line)
    : log_(line ? line->log() : std::make_shared<const runtime::log>(chosen.log)),
      job_(job_of(chosen, line, log_)),
      tcp_(tcp_settings_of(chosen, job_.get())),
      members_(*job_, mail_, tcp_, job_->line(), log_),
      placement_(chosen.progress_cpus,
                 std::max<std::size_t>(job_->local_size(), chosen.processes_per_host)) {}

control_plane::~control_plane() = default;

std::shared_ptr<wireup::renewable_certificates> control_plane::certificates_for(
    const std::string& address, const tls_files& given) const {
  if (!given.empty()) return certificates_of(given, *tcp_.encryption);
  return address.starts_with("tcp://") ? tcp_.certificates : nullptr;
}

void control_plane::start() {
  wireup::identity self;
  self.job = job_->id();
  self.rank = job_->rank();
  manager_ = std::make_unique<wireup::connection_manager>(
      std::move(self), static_cast<wireup::manager_events&>(*this), tcp_,
      static_cast<proto::lane_number>(lanes_.size()), log_);
  mail_->open(*manager_);
  std::vector<connections::connection_setup*> all;
  for (core* lane : lanes_) all.push_back(&lane->connections());
  const connections::rank_finder finder = [this](peer_id rank, const std::string& gone,
                                                 std::function<void(std::string)> found) {
    members_.find(rank, gone, std::move(found));
  };
  for (connections::connection_setup* lane : all) lane->attach(*manager_, finder, all);
  members_.attach(*manager_, [this](peer_id rank, bool died) {
    for (core* lane : lanes_)
      died ? lane->connections().on_rank_ended(rank, died) : lane->connections().on_rank_left(rank);
  });
  manager_->start_accepting();
  job_->publish(manager_->self().locator);
  job_->on_end([this, mail = mail_](peer_id rank, bool died) {
    wireup::retry_on_bad_alloc(
        [&] { mail->post([this, rank, died] { on_rank_ended(rank, died); }); });
  });
}

void control_plane::place_progress_threads() {
  std::vector<runtime::engine*> engines;
  for (core* lane : lanes_) engines.push_back(&lane->engine());
  placement_.attach(engines);
  manager_->post([this] {
    placement_.start([this](std::chrono::microseconds time, std::function<void()> f) {
      manager_->call_later(time, std::move(f));
    });
  });
}

wireup::channel_events& control_plane::on_live(const wireup::channel_ptr& c) noexcept {
  if (c->carries_descriptors()) placement_.met(c.get(), c->peer().pid);
  return lanes_[c->lane()]->connections();
}

void control_plane::on_dump_request(wireup::dump_form form,
                                    std::function<void(std::string)> answer) {
  lanes_.front()->answer_dump(
      form == wireup::dump_form::json ? dump_format::json : dump_format::text, std::move(answer));
}

void control_plane::on_exhausted() {
  for (core* lane : lanes_) lane->connections().on_exhausted();
}

void control_plane::on_rank_ended(peer_id rank, bool died) {
  for (core* lane : lanes_) lane->connections().on_rank_ended(rank, died);
  members_.on_rank_ended(rank, died);
}

void control_plane::on_connection_request(std::uint64_t number,
                                          std::unique_ptr<wireup::incoming_request> r) {
  if (members_.on_request(number, r)) return;
  std::shared_ptr<listener_state> d;
  {
    const std::lock_guard lock(listeners_mutex_);
    if (const auto it = listeners_.find(number); it != listeners_.end()) d = it->second;
  }
  if (d) d->arrive(std::move(r));
}

/// Also without a start, or after one that failed.
void control_plane::end(bool failed) {
  mail_->shut();  // the job outlives the manager
  for (core* lane : lanes_) lane->connections().manager()->shut();
  members_.shut();
  close_listeners();
  if (manager_) manager_->end(failed);
}

void control_plane::add_listener(std::uint64_t number, std::shared_ptr<listener_state> d) {
  const std::lock_guard lock(listeners_mutex_);
  if (listeners_closed_) throw error(errc::closed, "the context has ended");
  listeners_[number] = std::move(d);
}

void control_plane::remove_listener(std::uint64_t number) {
  const std::lock_guard lock(listeners_mutex_);
  listeners_.erase(number);
}

/// Coroutines that wait at a listener end with errc::closed. A listener that is destroyed later
/// finds itself closed.
void control_plane::close_listeners() {
  std::map<std::uint64_t, std::shared_ptr<listener_state>> all;
  {
    const std::lock_guard lock(listeners_mutex_);
    listeners_closed_ = true;
    all.swap(listeners_);
  }
  for (const auto& [number, listening] : all) listening->close();
}

}  // namespace weft::detail
