// SPDX-License-Identifier: Apache-2.0
#include "api/core.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstring>
#include <filesystem>

#include "api/listener_state.hpp"
#include "api/options.hpp"
#include "api/qdma_port.hpp"
#include "transports/composite/factory.hpp"
#include "transports/qdma/factory.hpp"
#include "transports/self/factory.hpp"
#include "transports/shm/factory.hpp"
#include "transports/tcp/factory.hpp"
#include "transports/verbs/factory.hpp"
#include "wireup/context_address.hpp"
#include "wireup/retry_on_bad_alloc.hpp"
#include "wireup/unix_socket.hpp"

namespace weft::detail {

namespace {

unsigned cores_of_this_process() noexcept {
  cpu_set_t set;
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : 1;
}

unsigned cores_of_the_host() noexcept {
  const long n = ::sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? static_cast<unsigned>(n) : cores_of_this_process();
}

runtime::wait_strategy::settings waiting(const options& o, const wireup::job* j) {
  runtime::wait_strategy::settings s;
  s.spin = o.spin;
  s.crowded = std::max<std::size_t>(j->local_size(), o.processes_per_host) > cores_of_the_host();
  return s;
}

wireup::job_key key_of(const options& o) {
  if (!o.job_key.empty())
    return wireup::job_key::from_text(o.job_key, "options::job_key (WEFT_JOB_KEY)");
  if (!o.job_key_file.empty()) return wireup::job_key::from_file(o.job_key_file);
  return {};
}

/// Each rank of a job has a trace of its own: trace.json becomes trace.3.json.
std::string trace_file(const std::string& chosen, const wireup::job* j) {
  if (!j->launched()) return chosen;
  std::filesystem::path file(chosen);
  return file.replace_extension(fmt::format(".{}{}", j->rank(), file.extension().string()))
      .string();
}

/// Never null.
std::unique_ptr<wireup::job> job_of(const options& o,
                                    const std::shared_ptr<wireup::coordinator_connection>& line) {
  if (line) return wireup::joined_job(line);
  if (o.standalone)
    return wireup::lone_job(wireup::job_key::random(wireup::context_address_key_bytes));
  std::unique_ptr<wireup::job> launched = wireup::launched_job(key_of(o));
  return launched ? std::move(launched) : wireup::lone_job();
}

}  // namespace

wireup::tcp_settings tcp_settings_of(const options& o, const wireup::job* j) {
  wireup::tcp_settings tcp;
  if (j) tcp.key = j->key();
  if (tcp.key.empty()) tcp.key = key_of(o);
  tcp.interfaces = o.tcp_interfaces;
  tcp.peer_timeout = o.peer_timeout;
  return tcp;
}

core::core(options chosen, std::shared_ptr<wireup::coordinator_connection> line,
           const std::vector<external_transport>& external)
    : options_(checked(std::move(chosen))),
      job_(job_of(options_, line)),
      engine_(options_.progress, waiting(options_, job_.get()), options_.wait_set),
      messenger_(engine_, {options_.unexpected_budget, options_.eager_limit,
                           options_.hashed_tag_bits, options_.experimental.rendezvous,
                           options_.experimental.eager_data, options_.experimental.chained}),
      connections_(engine_, messenger_, transports_, *job_),
      members_(*job_, connections_.manager(), tcp_settings_of(options_, job_.get()),
               std::move(line)) {
  messenger_.peers().reserve_ranks(wireup::first_non_rank);
  messenger_.streams().know_self(job_->rank());
  messenger_.attach(connections_);
  engine_.poll_by(options_.experimental.polling);
  make_transports(external);
  engine_.add(messenger_.upkeep());
  if (!options_.trace_file.empty())
    engine_.trace().open(trace_file(options_.trace_file, job_.get()));
  try {
    start_control_plane();
    engine_.start();
  } catch (...) {
    connections_.manager()->shut();  // the job outlives the manager
    throw;
  }
}

/// Acknowledgements of received messages leave before the context ends, or their sends would fail.
/// A peer that does not poll for a second gets none.
void core::drain_connections() {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(1);
  while (messenger_.unsent() && std::chrono::steady_clock::now() < limit)
    if (engine_.poll_once() == 0) ::sched_yield();
}

core::~core() {
  engine_.go_on();
  drain_connections();
  // The control plane first: its end tells peers, and fails operations that wait for connections.
  ended_.store(true, std::memory_order_release);
  connections_.manager()->shut();
  members_.shut();
  close_listeners();
  manager_->end();
  connections_.stop_draining();
  engine_.stop();
  {
    const runtime::engine::holder hold(engine_);
    if (qdma_) qdma_->shut();
    messenger_.close_all();
    engine_.close_timers();
  }
  // All ended operations are completed, and operations that their coroutines start end at once.
  // Coroutines on a pool use the members until they have ended.
  while (engine_.poll_once() != 0) {
  }
  spawned_.wait(engine_);
  // A stream that outlives its handle ends on any thread.
  while (messenger_.streams_linger()) ::sched_yield();
  const runtime::engine::holder hold(engine_);
  messenger_.peers().clear();
}

/// \return null: it cannot be used here, and `missing` says why
std::unique_ptr<transports::transport> core::make_transport(
    const std::string& name, const std::vector<external_transport>& external,
    std::string& missing) {
  const auto found = std::find_if(external.begin(), external.end(),
                                  [&](const external_transport& e) { return e.name == name; });
  if (found != external.end()) return found->make(engine_);
  if (name == "self") return transports::self::make(engine_);
  if (name == "shm") {
    missing = transports::shm::probe();
    if (!missing.empty()) return {};
    return transports::shm::make(engine_.own_doorbell(), options_.shm_copy,
                                 options_.experimental.reading, &engine_);
  }
  if (name == "qdma") {
    missing = transports::qdma::probe();
    if (!missing.empty()) return {};
    return transports::qdma::make(engine_, options_.experimental.qdma_copy_completion);
  }
  if (name == "verbs")
    return transports::verbs::make(
        engine_,
        {options_.verbs_device, options_.verbs_gid_index, options_.peer_timeout, options_.regions},
        missing);
  if (name == "tcp") {
    missing = transports::tcp::probe();
    if (!missing.empty()) return {};
    return transports::tcp::make(
        engine_, {options_.tcp_interfaces, options_.peer_timeout, options_.tcp_links});
  }
  throw error(errc::invalid_argument,
              fmt::format("there is no transport \"{}\"; WEFT_TRANSPORTS can name self, shm, "
                          "qdma, verbs and tcp, and several of them joined by +",
                          name));
}

/// One entry of the list: a transport, or several that are used together.
std::unique_ptr<transports::transport> core::make_entry(
    const std::string& name, const std::vector<external_transport>& external,
    std::string& missing) {
  std::vector<std::unique_ptr<transports::transport>> parts;
  for (std::size_t from = 0; from <= name.size();) {
    const std::string one = name.substr(from, name.find('+', from) - from);
    from += one.size() + 1;
    auto made = make_transport(one, external, missing);
    if (!made) {
      if (one != name) missing = fmt::format("{} is not to be had: {}", one, missing);
      return {};
    }
    parts.push_back(std::move(made));
  }
  for (const auto& part : parts) {
    if (runtime::pollable* const hook = part->poll_hook()) engine_.add(*hook);
    const std::string_view kind = part->traits().name;
    if (kind == "shm") shm_ = part.get();
    if (kind == "tcp") tcp_ = part.get();
    if (kind == "verbs") verbs_ = part.get();
  }
  return parts.size() == 1 ? std::move(parts.front())
                           : transports::composite::make(name, std::move(parts));
}

void core::make_transports(const std::vector<external_transport>& external) {
  for (std::size_t place = 0; place != options_.transports.size(); ++place) {
    const std::string& name = options_.transports[place];
    std::string missing;
    if (auto made = make_entry(name, external, missing)) {
      transports_.add(std::move(made), name, static_cast<std::uint16_t>(place));
    } else {
      transports_.exclude(name, missing);
    }
  }
}

void core::start_control_plane() {
  wireup::identity self;
  self.job = job_->id();
  self.rank = job_->rank();
  wireup::connection_manager::handlers h;
  h.on_exhausted = [this] { connections_.on_exhausted(); };
  h.on_wireup_message = [this](const wireup::channel_ptr& c, transports::wireup_message p) {
    if (!members_.on_wireup_message(c, p)) connections_.on_wireup_message(c, std::move(p));
  };
  h.on_gone = [this](const wireup::channel_ptr& c, bool orderly) {
    wireup::retry_on_bad_alloc([&] {
      if (!members_.on_gone(c, orderly)) connections_.on_gone(c, orderly);
    });
  };
  h.on_connection_request = [this](std::uint64_t number,
                                   std::unique_ptr<wireup::incoming_request> v) {
    if (members_.on_request(number, v)) return;
    std::shared_ptr<listener_state> d;
    {
      const std::lock_guard lock(listeners_mutex_);
      if (const auto it = listeners_.find(number); it != listeners_.end()) d = it->second;
    }
    if (d) d->arrive(std::move(v));
  };
  manager_ = std::make_unique<wireup::connection_manager>(std::move(self), std::move(h),
                                                          tcp_settings_of(options_, job_.get()));
  connections_.attach(*manager_, [this](peer_id rank, const std::string& gone,
                                        std::function<void(std::string)> found) {
    members_.find(rank, gone, std::move(found));
  });
  members_.attach(*manager_, [this](peer_id rank, bool died) {
    died ? connections_.on_rank_end(rank, died) : connections_.on_leave(rank);
  });
  manager_->start_accepting();
  job_->publish(manager_->self().locator);
  job_->on_end([this, mail = connections_.manager()](peer_id rank, bool died) {
    wireup::retry_on_bad_alloc([&] {
      mail->post([this, rank, died] {
        connections_.on_rank_end(rank, died);
        members_.on_rank_end(rank, died);
      });
    });
  });
}

void core::refuse_child() const {
  if (!engine_.is_inherited()) return;
  throw error(errc::invalid_argument,
              "this context was made before fork() and belongs to the parent process; make one of "
              "this process's own, in a job with options::standalone");
}

qdma::detail::port& core::open_qdma(transports::qdma::table t) {
  auto made = qdma::detail::port::make(engine_, std::move(t));
  const runtime::engine::holder hold(engine_);
  if (qdma_ || ended()) {
    made->shut();
    if (ended()) throw error(errc::closed, "the context has ended");
    throw error(errc::invalid_argument, "this context has a qdma device already; use that one");
  }
  engine_.add(made->device());
  qdma_ = std::move(made);
  engine_.look_after();
  return *qdma_;
}

void core::add_listener(std::uint64_t number, std::shared_ptr<listener_state> d) {
  const std::lock_guard lock(listeners_mutex_);
  if (listeners_closed_) throw error(errc::closed, "the context has ended");
  listeners_[number] = std::move(d);
}

void core::remove_listener(std::uint64_t number) {
  const std::lock_guard lock(listeners_mutex_);
  listeners_.erase(number);
}

/// Coroutines that wait at a listener end with errc::closed. A listener that is destroyed later
/// finds itself closed.
void core::close_listeners() {
  std::map<std::uint64_t, std::shared_ptr<listener_state>> all;
  {
    const std::lock_guard lock(listeners_mutex_);
    listeners_closed_ = true;
    all.swap(listeners_);
  }
  for (const auto& [number, listening] : all) listening->close();
}

std::span<std::byte> core::allocate_shared(std::size_t size) {
  if (size == 0)
    throw error(errc::invalid_argument, "shared memory of 0 bytes; ask for at least one");
  if (!shm_)
    throw error(errc::unsupported,
                "memory for direct copies needs the transport shm; " + missing());
  const runtime::engine::holder hold(engine_);
  return transports::shm::allocate(*shm_, size);
}

void core::free_shared(std::span<std::byte> memory) noexcept {
  if (engine_.is_inherited()) return;
  forget(memory);
  const runtime::engine::holder hold(engine_);
  transports::shm::free(*shm_, memory);
}

void core::forget(std::span<const std::byte> memory) noexcept {
  const runtime::engine::holder hold(engine_);
  for (const auto& one : transports_) one.transport->invalidate_registrations(memory);
}

metrics core::snapshot() const {
  metrics now = messenger_.snapshot();
  const runtime::engine::holder hold(messenger_.engine());
  for (const auto& one : transports_) one.transport->add_to(now);
  return now;
}

std::string core::describe() const {
  const runtime::engine::holder hold(messenger_.engine());
  std::string text = fmt::format("progress: {}\n", engine_.describe());
  for (const auto& one : transports_)
    text += fmt::format("transport: {}\n", one.transport->describe());
  if (job_->launched())
    text += fmt::format("job: rank {} of {}, {} on this host\n", job_->rank(), job_->size(),
                        job_->local_size());
  return text + messenger_.costs().describe() + missing();
}

}  // namespace weft::detail
