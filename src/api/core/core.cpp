// SPDX-License-Identifier: Apache-2.0
#include "api/core/core.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <future>
#include <sstream>
#include <thread>

#include <weft/openmetrics.hpp>

#include "api/core/make_transports.hpp"
#include "api/options/options.hpp"
#include "collectives/communicator.hpp"
#include "collectives/forced.hpp"
#include "proto/messenger/message_errors.hpp"
#include "runtime/os/brief_wait.hpp"
#include "runtime/os/cpu_set.hpp"

namespace weft::detail {

static_assert(alignof(core) >= 64, "no two lanes write to one cache line");

namespace {

// While a context ends. A thread that sleeps gives its core to a peer that has something to do; one
// that yields gives it to any process, for a whole time slice.
constexpr std::chrono::microseconds between_polls_at_end{50};

constexpr std::string_view ended_too_early =
    "its context ended, and what it still had to send could not leave in the time that "
    "options::linger (WEFT_LINGER) sets";

// How long messages to peers that were given up, and bytes of links that have ended, are written.
constexpr std::chrono::milliseconds longest_after_links{500};

std::size_t cores_of_the_host() noexcept {
  const long n = ::sysconf(_SC_NPROCESSORS_ONLN);
  return n > 0 ? static_cast<std::size_t>(n)
               : std::max<std::size_t>(runtime::cpus_of(0).count(), 1);
}

/// Each lane may have a thread that polls.
runtime::wait_strategy::settings waiting(const options& o, const wireup::job& j) {
  runtime::wait_strategy::settings s;
  s.spin = o.spin;
  const std::size_t processes = std::max<std::size_t>(j.local_size(), o.processes_per_host);
  s.crowded = std::max<std::size_t>(processes, 1) * o.lanes > cores_of_the_host();
  return s;
}

/// 0: none.
int dump_signal_of(dump_on chosen) noexcept {
  switch (chosen) {
    case dump_on::automatic:
      return std::getenv("WEFT_JOB") ? SIGQUIT : 0;  // weft-run passes it on to all ranks
    case dump_on::none:
      return 0;
    case dump_on::sigquit:
      return SIGQUIT;
    case dump_on::sigusr1:
      return SIGUSR1;
    case dump_on::sigusr2:
      return SIGUSR2;
  }
  return 0;
}

/// Each rank of a job, also one that has come back, and each further lane, has a file of its own:
/// trace.json becomes trace.3.json, trace.3.lane1.json and so on.
std::string file_of_rank(const std::string& chosen, const wireup::job& j, proto::lane_number lane) {
  std::filesystem::path file(chosen);
  std::string extension = file.extension().string();
  if (lane != 0) extension = fmt::format(".lane{}{}", lane, extension);
  if (j.launched()) extension = fmt::format(".{}{}", j.place(), extension);
  return file.replace_extension(extension).string();
}

}  // namespace

core::core(options chosen, std::shared_ptr<control_plane> plane, proto::lane_number lane)
    : options_(std::move(chosen)),
      plane_(std::move(plane)),
      lane_(lane),
      engine_(options_.progress, waiting(options_, plane_->job()), options_.wait_set, nullptr,
              plane_->log(), plane_->bells()),
      loans_(engine_, options_.loan_budget),
      messenger_(engine_, {options_.unexpected_budget, options_.eager_limit, options_.eager_limits,
                           options_.hashed_tag_bits, options_.experimental.rendezvous,
                           options_.experimental.eager_data, options_.experimental.chained,
                           options_.calls_at_once, options_.experimental.fixed_credit,
                           options_.stop_timeout, options_.shm_limit}),
      connections_(engine_, messenger_, transports_, plane_->job(), lane) {
  if (!options_.trace_file.empty() || !options_.call_tree_file.empty()) messenger_.record_all();
  messenger_.peers().reserve_ranks(proto::first_non_rank);
  messenger_.streams().know_self(rank());
  messenger_.attach(connections_);
  messenger_.calls().attach(*this);
  engine_.poll_by(options_.experimental.polling);
  make_transports(engine_, options_, transports_);
  engine_.add(messenger_.upkeep());
  if (!options_.trace_file.empty())
    engine_.trace().open(file_of_rank(options_.trace_file, plane_->job(), lane),
                         plane_->job().rank(), plane_->log());
  if (!options_.call_tree_file.empty())
    engine_.open_call_tree(options_.call_tree_file == "stderr"
                               ? options_.call_tree_file
                               : file_of_rank(options_.call_tree_file, plane_->job(), lane),
                           rank(), options_.call_tree_messages);
  const wireup::job& j = plane_->job();
  const auto shape = collectives::group_shape::on_hosts(
      j.size(), j.per_host(), *collectives::forced_by(options_.experimental.collectives));
  world_ = std::make_shared<collectives::communicator>(messenger_, 0, j.place(), shape,
                                                       std::vector<peer_id>{});
  if (j.place() != j.rank()) world_->disown();
  plane_->add(*this);
}

/// Once the first lane is made, the destructor runs also if this fails.
core::core(options chosen, const std::shared_ptr<wireup::coordinator_connection>& line)
    : core(checked(chosen), std::make_shared<control_plane>(checked(chosen), line), 0) {
  further_lanes_.reserve(options_.lanes - 1);
  for (unsigned n = 1; n != options_.lanes; ++n)
    further_lanes_.push_back(internals::context_of(
        std::unique_ptr<core>(new core(options_, plane_, static_cast<proto::lane_number>(n)))));
  dump_report_ = std::make_unique<dump_report>(*this);
  dump_answers_ = std::make_unique<dump_answers>(*dump_report_);
  plane_->start();
  for (core* one : plane_->lanes()) one->engine_.start();
  plane_->place_progress_threads();
  if (const int number = dump_signal_of(options_.dump); number != 0)
    dump_ = std::make_unique<dump>(*dump_report_, plane_->log(), number);
  if (!options_.metrics_file.empty())
    metrics_file_ = std::make_unique<metrics_file>(
        file_of_rank(options_.metrics_file, plane_->job(), 0), options_.metrics_interval,
        [this] { return to_openmetrics(snapshot_lanes()); }, plane_->log());
  plane_->members().await_entry(options_.peer_timeout);
  if (!plane_->log()->wants(log_level::debug)) return;
  std::istringstream choices(describe());
  for (std::string line; std::getline(choices, line);) plane_->log()->write(log_level::debug, line);
}

context& core::further_lane(unsigned number) {
  if (lane_ != 0)
    throw error(errc::invalid_argument,
                fmt::format("lane {} was asked of lane {}; ask the context", number, lane_));
  if (number > further_lanes_.size())
    throw error(
        errc::invalid_argument,
        fmt::format("this context has {} lane{} (options::lanes, WEFT_LANES), numbered from "
                    "0: there is no lane {}",
                    options_.lanes, options_.lanes == 1 ? "" : "s", number));
  return further_lanes_[number - 1];
}

bool core::is_in_use() const noexcept {
  const auto& all = plane_->lanes();
  return std::any_of(all.begin(), all.end(), [](core* one) { return one->engine_.is_in_use(); });
}

/// One pass of each lane. \return how many events were handled
unsigned core::poll_lanes() noexcept {
  unsigned handled = 0;
  for (core* one : plane_->lanes()) handled += one->engine_.poll_once();
  return handled;
}

/// \param all false: only answers to peers' messages that have a link already
bool core::drained(bool all) noexcept {
  const auto& lanes = plane_->lanes();
  return std::none_of(lanes.begin(), lanes.end(), [all](const core* one) {
    return all ? one->messenger_.owes() : one->messenger_.unsent();
  });
}

/// What the context has accepted or owes leaves before it ends: messages whose send has been
/// reported, or was begun, and answers, without which sends of peers would fail. After an exception
/// only the answers that are ready.
void core::drain_connections() {
  const bool in_good_order = std::uncaught_exceptions() <= exceptions_before_;
  const auto limit = std::chrono::steady_clock::now() + options_.linger;
  const auto& lanes = plane_->lanes();
  for (core* one : lanes) one->messenger_.begin_end();
  while (!drained(in_good_order) && std::chrono::steady_clock::now() < limit)
    if (poll_lanes() == 0) std::this_thread::sleep_for(between_polls_at_end);
  if (in_good_order) give_up_debts();
}

/// The control plane's thread tells the peers, by messages that it posts to itself, and its end
/// drops what is posted later.
void core::give_up_debts() noexcept {
  std::size_t given_up = 0;
  for (core* one : plane_->lanes()) given_up += one->messenger_.give_up_debts(ended_too_early);
  if (given_up == 0) return;
  try {
    auto done = std::make_shared<std::promise<void>>();
    std::future<void> posted = done->get_future();
    wireup::connection_manager& manager = plane_->manager();
    manager.post([&manager, done] { manager.post([done] { done->set_value(); }); });
    done.reset();
    posted.wait_for(longest_after_links);
  } catch (const std::exception&) {
    // No memory: the peers hear that this side has left.
  }
}

void core::end_operations() {
  connections_.stop_draining();
  engine_.stop();
  engine_.files().close();
  engine_.close_waits();
  {
    const runtime::engine::holder hold(engine_);
    if (qdma_) qdma_->shut();
    messenger_.close_all();
    engine_.close_timers();
  }
  messenger_.close_views();
}

/// All ended operations are completed, and operations that their coroutines start end at once.
/// Coroutines on a pool use the members until they have ended. A task of one lane may wait for
/// another lane, so that no lane is waited for alone.
void core::run_out() {
  while (poll_lanes() != 0) {
  }
  task_count& tasks = plane_->spawned();
  if (plane_->lanes().size() == 1) return tasks.wait(engine_);
  tasks.expect_end();
  while (!tasks.none_left())
    if (poll_lanes() == 0) std::this_thread::sleep_for(between_polls_at_end);
}

void core::call_began() noexcept { plane_->spawned().began(); }
void core::call_ended() noexcept { plane_->spawned().ended(plane_->lanes().front()->engine_); }

/// The first lane ends all lanes, in step.
core::~core() {
  if (lane_ != 0) return;
  const auto& all = plane_->lanes();
  for (core* one : all) one->engine_.go_on();
  drain_connections();
  // The control plane first: its end tells peers, and fails operations that wait for connections.
  for (core* one : all) one->ended_.store(true, std::memory_order_release);
  plane_->end(std::uncaught_exceptions() > exceptions_before_);
  if (dump_answers_) dump_answers_->close();
  for (core* one : all) one->end_operations();
  run_out();
  metrics_file_.reset();  // writes a last time
  for (core* one : all) {
    // A stream that outlives its handle ends on any thread.
    for (runtime::brief_wait between_looks; one->messenger_.streams_linger();) between_looks.wait();
    one->world_.reset();
    const runtime::engine::holder hold(one->engine_);
    one->messenger_.peers().clear();
  }
}

void core::refuse_child() const {
  if (!engine_.is_inherited()) return;
  throw error(errc::invalid_argument,
              "this context was made before fork() and belongs to the parent process; make one of "
              "this process's own, in a job with options::standalone");
}

std::span<std::byte> core::allocate_shared(std::size_t size) {
  if (size == 0)
    throw error(errc::invalid_argument, "shared memory of 0 bytes; ask for at least one");
  const runtime::engine::holder hold(engine_);
  for (const auto& one : transports_) {
    const std::span<std::byte> memory = one.transport->allocate(size);
    if (memory.empty()) continue;
    try {
      memory_.emplace(memory.data(), one.transport.get());
    } catch (...) {
      one.transport->deallocate(memory);
      throw;
    }
    return memory;
  }
  throw error(errc::unsupported, "memory for direct copies needs the transport shm; " + missing());
}

void core::free_shared(std::span<std::byte> memory) noexcept {
  if (engine_.is_inherited()) return;
  forget(memory);
  const runtime::engine::holder hold(engine_);
  const auto it = memory_.find(memory.data());
  it->second->deallocate(memory);
  memory_.erase(it);
}

loan_memory core::make_loan(std::size_t size) {
  for (bool asked = false;; asked = true) {
    {
      const runtime::engine::holder hold(engine_);
      if (loans_.has_memory()) {
        proto::loan_block* const block = loans_.take(size);
        if (!block) throw error(errc::out_of_memory, loans_.explain(size));
        return {*block, {block->at, size}};
      }
    }
    if (!asked) add_loan_memory();
  }
}

/// Once. Peers cannot map what no transport allocates: then loans are copied.
void core::add_loan_memory() {
  const std::lock_guard only(loans_made_);
  std::span<std::byte> memory;
  {
    const runtime::engine::holder hold(engine_);
    if (loans_.has_memory()) return;
  }
  try {
    memory = allocate_shared(loans_.budget());
  } catch (const error& e) {
    if (e.kind() != errc::unsupported) throw;
    private_loans_ = runtime::map_private(loans_.budget());
    memory = {static_cast<std::byte*>(private_loans_.get()), private_loans_.size()};
  }
  const runtime::engine::holder hold(engine_);
  loans_.use(memory);
}

void core::forget(std::span<const std::byte> memory) noexcept {
  for (core* lane : plane_->lanes()) {
    const runtime::engine::holder hold(lane->engine_);
    for (const auto& one : lane->transports_) one.transport->invalidate_registrations(memory);
  }
}

metrics core::snapshot() const {
  const runtime::engine::holder hold(messenger_.engine());
  return snapshot_held();
}

metrics core::snapshot_held() const {
  metrics now = messenger_.snapshot_held();
  for (const auto& one : transports_) one.transport->add_to(now);
  if (lane_ == 0) now.handshakes_failed += plane_->encryption().failed();
  return now;
}

std::vector<lane_metrics> core::snapshot_lanes() {
  std::vector<lane_metrics> all;
  for (core* lane : plane_->lanes()) all.push_back(lane->snapshot_lane());
  return all;
}

lane_metrics core::snapshot_lane() {
  const runtime::engine::holder hold(engine_);
  lane_metrics all;
  all.rank = rank();
  all.lane = lane_;
  all.total = snapshot_held();
  std::map<std::string_view, traffic_metrics> over = messenger_.peers().departed();
  messenger_.peers().for_each([&](proto::peer& p) {
    const proto::peer_connection& c = p.connection();
    over[c.transport()] += c.traffic();
    peer_metrics of;
    static_cast<traffic_metrics&>(of) = c.traffic();
    of.peer = p.id();
    of.name = proto::name_of(p.id());
    of.transport = c.transport();
    of.connected = c.is_open();
    for (std::size_t i = 0; i != transports_.size(); ++i)
      for (const transports::frame_sink* sink : transports_.frame_sinks_of(p, i))
        transports_[i].transport->add_peer_to(*sink, of);
    all.peers.push_back(std::move(of));
  });
  std::ranges::sort(all.peers, {}, &peer_metrics::peer);
  for (const auto& one : transports_) over[one.transport->traits().name];
  for (const auto& [name, sum] : over)
    if (!name.empty()) all.transports.push_back({sum, std::string(name)});
  return all;
}

std::string core::describe() const {
  const std::string where =
      plane_->placement().describe();  // without the progress lock: it takes long
  const runtime::engine::holder hold(messenger_.engine());
  std::string text = fmt::format("progress: {}\n", engine_.describe());
  text += where;
  for (const auto& one : transports_)
    text += fmt::format("transport: {}; up to {} bytes without a handshake\n",
                        one.transport->describe(),
                        messenger_.settings().eager_limit_over(one.transport->traits()));
  const wireup::job& job = plane_->job();
  if (job.launched())
    text += fmt::format(
        "job: rank {} of {}, {} on this host{}\n", job.rank(), job.size(), job.local_size(),
        collectives::group_shape::on_hosts(job.size(), job.per_host(), {}).has_levels()
            ? ", as on every host"
            : "");
  if (options_.lanes != 1) text += fmt::format("lane: {} of {}\n", lane_, options_.lanes);
  if (dump_) text += dump_->describe();
  return text + messenger_.costs().describe() + missing();
}

}  // namespace weft::detail
