// SPDX-License-Identifier: Apache-2.0
// A job whose directory is kept by weft-run.
#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>
#include <weft/error.hpp>

#include "runtime/os/errno_hint.hpp"
#include "wireup/auth/hello.hpp"
#include "wireup/job/coordinator_connection.hpp"
#include "wireup/job/job.hpp"
#include "wireup/job/job_directory.hpp"
#include "wireup/job/job_wire.hpp"
#include "wireup/loop/connection.hpp"
#include "wireup/loop/retry_on_bad_alloc.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

using namespace std::chrono_literals;

namespace {

constexpr auto time_to_let_in = 10s;
// The launcher hangs up on a process that says nothing for long. A process that was stopped at that
// moment, by a debugger or SIGSTOP, tries again.
constexpr int most_tries = 3;

struct job_facts {
  context_id id;
  peer_id rank = 0;
  peer_id size = 0;
  peer_id local_size = 0;
};

/// The connection to the launcher. The members are for the loop's thread.
class launcher_line final : public connection::user,
                            public std::enable_shared_from_this<launcher_line> {
 public:
  using found_handler = std::function<void(std::string)>;
  using ended_handler = std::function<void(peer_id, bool)>;

  launcher_line(loop& on, unique_fd socket, peer_id size, runtime::log_ptr reports)
      : link_(std::make_shared<connection>(on, std::move(socket))),
        size_(size),
        log_(std::move(reports)) {}

  void start() { link_->start(shared_from_this()); }

  void publish(const std::string& locator) { link_->send(encode_publish(locator)); }

  /// \param gone as job::find_next; empty: as job::find
  void find(peer_id rank, const std::string& gone, const found_handler& found) try {
    if (lost_) return found({});
    std::vector<found_handler>& waiting = waiting_[rank];
    waiting.push_back(found);
    if (waiting.size() == 1) link_->send(encode(job_find{rank, gone}));
  } catch (const std::bad_alloc&) {
    found({});  // perhaps a second time: `stop` calls the handlers in waiting_, too
    throw;
  }

  void tell_ends(ended_handler handler) {
    for (const auto& [rank, died] : ended_) handler(rank, died);
    handlers_.push_back(std::move(handler));
  }

  /// Called also when there is no memory to go on. May be called again.
  void stop() {
    link_->close();
    answer_all();
  }

  void on_frame(frame f) override {
    if (const auto found = decode_found(f)) {
      const auto waiting = waiting_.extract(found->rank);
      if (waiting.empty()) return;
      for (const auto& handler : waiting.mapped())
        retry_on_bad_alloc([&] { handler(found->locator); });
    } else if (const auto e = decode_ended(f)) {
      if (e->rank >= size_ || !ended_.emplace(e->rank, e->died).second) return;
      for (std::size_t i = 0; i < handlers_.size(); ++i) handlers_[i](e->rank, e->died);
    }
    // Any other frame comes from a launcher of a later version, and is ignored.
  }

  void on_ended(connection::ending) override {
    log_->warning("weft-run is gone; ranks not met yet can no longer be found");
    answer_all();
  }

 private:
  void answer_all() {
    lost_ = true;
    for (const auto& [rank, waiting] : std::exchange(waiting_, {}))
      for (const auto& handler : waiting) retry_on_bad_alloc([&] { handler({}); });
  }

  const std::shared_ptr<connection> link_;
  std::map<peer_id, std::vector<found_handler>> waiting_;
  const peer_id size_;
  const runtime::log_ptr log_;
  std::map<peer_id, bool> ended_;
  std::vector<ended_handler> handlers_;
  bool lost_ = false;
};

class run_job final : public job {
 public:
  run_job(job_facts facts, unique_fd socket, const runtime::log_ptr& reports)
      : facts_(facts), loop_([this] { line_->stop(); }, reports) {
    // Constructed on this thread and not on the loop's, so that the caller gets the exception.
    // Nothing runs on the loop's thread yet.
    line_ = std::make_shared<launcher_line>(loop_, std::move(socket), facts_.size, reports);
    loop_.post([line = line_] { line->start(); });
  }
  ~run_job() override {
    loop_.end([this] { line_->stop(); });
  }

  context_id id() const noexcept override { return facts_.id; }
  peer_id rank() const noexcept override { return facts_.rank; }
  peer_id size() const noexcept override { return facts_.size; }
  peer_id local_size() const noexcept override { return facts_.local_size; }
  peer_id per_host() const noexcept override {
    return facts_.size % facts_.local_size == 0 ? facts_.local_size : 0;
  }

  void publish(const std::string& locator) override {
    loop_.post([this, locator] { line_->publish(locator); });
  }

  void find(peer_id rank, std::function<void(std::string locator)> found) override {
    find_next(rank, {}, std::move(found));
  }

  void find_next(peer_id rank, const std::string& gone,
                 std::function<void(std::string locator)> found) override {
    if (rank >= facts_.size)
      throw error(errc::invalid_argument,
                  fmt::format("there is no rank {} in a job of {} processes", rank, facts_.size));
    loop_.post([this, rank, gone, found = std::move(found)] { line_->find(rank, gone, found); });
  }

  void on_end(std::function<void(peer_id rank, bool died)> ended) override {
    loop_.post([this, ended = std::move(ended)]() mutable { line_->tell_ends(std::move(ended)); });
  }

 private:
  const job_facts facts_;
  loop loop_;
  std::shared_ptr<launcher_line> line_;
};

[[noreturn]] void contradiction(const std::string& what) {
  throw error(errc::invalid_argument,
              what +
                  "; start the program with weft-run, or unset WEFT_RANK, WEFT_SIZE, "
                  "WEFT_LOCAL_SIZE and WEFT_JOB to run it alone");
}

[[noreturn]] void cannot_reach(const std::string& what) {
  throw error(
      errc::unreachable,
      fmt::format("the launcher named in WEFT_JOB cannot be reached: {}; does weft-run still "
                  "run, as the same user and in the same container?",
                  what));
}

peer_id number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) contradiction(fmt::format("{} is not set but WEFT_JOB is", variable));
  peer_id value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, fault] = std::from_chars(text, end, value);
  if (fault != std::errc{} || stop != end)
    contradiction(fmt::format("{}='{}' is not a number", variable, text));
  return value;
}

unique_fd connect_to(const std::string& locator) {
  const auto give_up = std::chrono::steady_clock::now() + time_to_let_in;
  for (;;) {
    opened socket = connect_abstract(locator, std::make_shared<runtime::disposal>());
    if (socket.fd) return std::move(socket.fd);
    if (socket.error != EAGAIN || std::chrono::steady_clock::now() > give_up)
      cannot_reach(runtime::describe_errno(socket.error));
    // The launcher's queue is full for the moment: many ranks start at once.
    std::this_thread::sleep_for(2ms);
  }
}

/// The launcher's answer to a hello.
using answer = std::variant<job_welcome, vacant_place>;

/// Says hello and waits for the answer. \return nothing if the launcher hung up
std::optional<answer> introduce(const unique_fd& socket, const job_facts& facts) {
  const frame hello = encode(job_hello{facts.id, facts.rank});
  const int fault = send_packet(socket.get(), frame_header::of(hello), hello.body, {});
  if (fault == EPIPE || fault == ECONNRESET) return {};
  if (fault != 0) cannot_reach(runtime::describe_errno(fault));
  pollfd ready{socket.get(), POLLIN, 0};
  int n = 0;
  do {
    n = ::poll(&ready, 1, static_cast<int>(std::chrono::milliseconds(time_to_let_in).count()));
  } while (n < 0 && errno == EINTR);
  if (n == 0) cannot_reach("it is silent");
  std::array<std::byte, 2048> buffer;  // the longest frame is a refusal
  packet p;
  p.disposal = socket.ends_in();
  if (receive_packet(socket.get(), buffer, p) != arrival::packet) return {};
  const auto f = frame_header::parse(p.bytes, std::move(p.fds));
  if (f && f->kind == frame_kind::refusal) throw error(errc::invalid_argument, decode_refusal(*f));
  if (const auto welcome = f ? decode_job_welcome(*f) : std::nullopt) return *welcome;
  if (auto vacant = f ? decode_vacant_place(*f) : std::nullopt) return std::move(*vacant);
  cannot_reach("it does not speak this version of weft's protocol");
}

/// The connection to the launcher, or the place that this process may take.
using entrance = std::variant<unique_fd, vacant_place>;

/// Connects to the launcher and waits until it has accepted this process.
entrance enter_job(const std::string& locator, const job_facts& facts) {
  for (int hang_ups = 0; hang_ups != most_tries; ++hang_ups) {
    unique_fd socket = connect_to(locator);
    if (const credentials who = credentials_of(socket.get()); !who.same_user)
      cannot_reach(
          fmt::format("{} listens there: {}", describe_process(who.pid), why_no_user_of_ours(who)));
    std::optional<answer> said = introduce(socket, facts);
    if (!said) continue;
    if (auto* vacant = std::get_if<vacant_place>(&*said)) return std::move(*vacant);
    const auto* welcome = std::get_if<job_welcome>(&*said);
    if (welcome->job != facts.id || welcome->size != facts.size)
      contradiction(fmt::format("the launcher's job has {} ranks, WEFT_SIZE says {}", welcome->size,
                                facts.size));
    return socket;
  }
  cannot_reach("it turned this process away, perhaps for want of file descriptors (ulimit -n)");
}

}  // namespace

std::unique_ptr<job> weft_run_job(tcp_settings way, runtime::log_ptr reports) {
  const char* text = std::getenv("WEFT_JOB");
  if (text == nullptr) return nullptr;
  job_facts facts;
  std::string locator;
  if (!parse_job_environment(text, locator, facts.id))
    contradiction(fmt::format("WEFT_JOB='{}' is not what weft-run sets", text));
  facts.rank = number("WEFT_RANK");
  facts.size = number("WEFT_SIZE");
  facts.local_size = number("WEFT_LOCAL_SIZE");
  if (facts.rank >= facts.size || facts.local_size > facts.size || facts.local_size == 0)
    contradiction(fmt::format("rank {}, size {} and local size {} do not fit together", facts.rank,
                              facts.size, facts.local_size));

  entrance way_in = enter_job(locator, facts);
  if (auto* vacant = std::get_if<vacant_place>(&way_in)) {
    vacant->local_size = facts.local_size;
    return returned_job(*vacant, std::move(way), std::move(reports));
  }
  try {
    return std::make_unique<run_job>(facts, std::move(std::get<unique_fd>(way_in)), reports);
  } catch (const std::system_error& e) {  // from the connection
    throw error(errc::system, fmt::format("cannot watch the connection to weft-run: {}; {}",
                                          e.what(), runtime::errno_hint(e.code().value())));
  }
}

}  // namespace weft::wireup
