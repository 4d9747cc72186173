// SPDX-License-Identifier: Apache-2.0
#include "wireup/job_directory.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <set>
#include <vector>
#include <weft/error.hpp>

#include "runtime/cure.hpp"
#include "wireup/connection.hpp"
#include "wireup/hello.hpp"
#include "wireup/job_wire.hpp"
#include "wireup/listener.hpp"
#include "wireup/unix_socket.hpp"

namespace weft::wireup {

using runtime::unique_fd;

namespace {

constexpr auto time_to_enter = std::chrono::seconds(5);

/// Beyond the ranks themselves: their helpers, and those that have not said who they are.
constexpr std::size_t spare_clients = 64;

}  // namespace

class job_directory::server {
 public:
  explicit server(peer_id size) : loop_(std::make_shared<loop>()), ranks_(size) {
    opened socket = listen_abstract(locator_);
    if (!socket.fd)
      throw error(errc::system,
                  fmt::format("cannot listen on a Unix socket for the job: {}; {}",
                              std::strerror(socket.error), runtime::cure_for(socket.error)));
    loop_->post([this, fd = std::move(socket.fd)]() mutable {
      front_ = std::make_shared<listener>(
          *loop_, std::move(fd), [this](unique_fd who) { on_newcomer(std::move(who)); },
          [this](int fault) { on_starving(fault); }, nullptr);
      front_->start();
    });
  }

  ~server() {
    loop_->finish([this] {
      if (front_) front_->close();
      for (const auto& c : std::vector(clients_.begin(), clients_.end())) drop(c);
    });
  }

  const std::string& locator() const { return locator_; }
  const context_id& id() const { return id_; }

  void ended(peer_id rank, bool died) {
    loop_->post([this, rank, died] { on_ended(rank, died); });
  }

 private:
  struct client final : connection::user, std::enable_shared_from_this<client> {
    client(server& whose, unique_fd socket)
        : home(whose),
          link(std::make_shared<connection>(*whose.loop_, std::move(socket))),
          patience(whose.loop_->io()) {}

    void on_frame(frame f) override { home.on_frame(shared_from_this(), f); }
    void on_end(connection::ending) override { home.drop(shared_from_this()); }

    server& home;
    const std::shared_ptr<connection> link;
    asio::steady_timer patience;
    peer_id rank = no_peer;  // until it has said hello
  };
  using client_ptr = std::shared_ptr<client>;

  struct entry {
    client_ptr program;         // the one that the rank's command runs now; null: none, or not yet
    std::string locator;        // the program's; empty: has not published
    std::optional<bool> ended;  // how
    std::set<client_ptr> waiting;  // for the locator
  };

  void on_newcomer(unique_fd socket) try {
    const credentials who = credentials_of(socket.get());
    if (!who.same_user || clients_.size() >= ranks_.size() + spare_clients) {
      if (!std::exchange(told_, true))
        std::fprintf(stderr, "weft-run: a connection of %s was turned away: %s\n",
                     describe_process(who.pid).c_str(),
                     who.same_user ? "too many" : "it belongs to another user");
      return;
    }
    const auto c = std::make_shared<client>(*this, std::move(socket));
    clients_.insert(c);
    c->patience.expires_after(time_to_enter);
    c->patience.async_wait([this, c](const asio::error_code& fault) {
      if (!fault && c->rank == no_peer) drop(c);
    });
    c->link->start(c);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "weft-run: a connection had to be dropped: %s\n", e.what());
  }

  void on_starving(int fault) {
    if (!std::exchange(told_of_starving_, true))
      std::fprintf(stderr, "weft-run: cannot accept the connection of a rank: %s (said once)\n",
                   runtime::told(fault).c_str());
  }

  void on_frame(const client_ptr& c, const frame& f) {
    if (c->rank == no_peer) return on_hello(c, f);
    if (const auto locator = decode_publish(f)) return on_publish(c->rank, *locator);
    if (const auto find = decode_find(f); find && find->rank < ranks_.size())
      return on_find(c, *find);
    drop(c);
  }

  void on_hello(const client_ptr& c, const frame& f) {
    const auto hello = decode_job_hello(f);
    if (!hello || hello->job != id_ || hello->rank >= ranks_.size()) return drop(c);
    entry& e = ranks_[hello->rank];
    if (e.program && has_ended(*e.program)) drop(e.program);
    if (e.program) return refuse(c, *e.program, hello->rank);
    e.program = c;
    c->rank = hello->rank;
    c->patience.cancel();
    c->link->send(encode(job_welcome{id_, static_cast<peer_id>(ranks_.size())}));
    for (peer_id r = 0; r < ranks_.size(); ++r)
      if (ranks_[r].ended) c->link->send(encode(job_ended{r, *ranks_[r].ended}));
  }

  /// A rank's command may run several programs one after the other: the next one may say hello
  /// before the end of the last one's connection has been seen here, which a child of that one may
  /// even hold open.
  static bool has_ended(const client& program) noexcept {
    const pid_t pid = program.link->peer().pid;
    return program.link->is_cut() || (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH);
  }

  void refuse(const client_ptr& c, const client& holder, peer_id rank) {
    c->link->send(encode_refusal(fmt::format(
        "{} already has a context that is rank {} of the job, and a rank has one at a time; end "
        "that one first, or set options::alone for one that does not belong to the job",
        describe_process(holder.link->peer().pid), rank)));
    c->link->finish();
  }

  void on_publish(peer_id rank, const std::string& locator) {
    entry& e = ranks_[rank];
    if (e.ended) return;
    e.locator = locator;
    for (const auto& c : std::exchange(e.waiting, {})) tell(c, rank);
  }

  void on_find(const client_ptr& c, const job_find& f) {
    entry& e = ranks_[f.rank];
    if (e.ended || (!e.locator.empty() && e.locator != f.gone)) return tell(c, f.rank);
    e.waiting.insert(c);
  }

  void tell(const client_ptr& c, peer_id rank) {
    const entry& e = ranks_[rank];
    c->link->send(encode(job_found{rank, e.ended ? std::string() : e.locator}));
  }

  /// How it ended is told before who waits for it is answered, who would not know otherwise.
  void on_ended(peer_id rank, bool died) {
    ranks_[rank].ended = died;
    for (const auto& c : clients_)
      if (c->rank != no_peer) c->link->send(encode(job_ended{rank, died}));
    for (const auto& c : std::exchange(ranks_[rank].waiting, {})) tell(c, rank);
  }

  void drop(client_ptr c) {
    c->patience.cancel();
    c->link->close();
    clients_.erase(c);
    for (entry& e : ranks_) e.waiting.erase(c);
    if (c->rank == no_peer || ranks_[c->rank].program != c) return;
    // Whoever asks meanwhile waits for the rank's next program, or for the end of its command.
    ranks_[c->rank].program = nullptr;
    ranks_[c->rank].locator.clear();
  }

  const std::shared_ptr<loop> loop_;  // first, because what follows is gone before it
  const context_id id_ = random_id();
  const std::string locator_ = random_socket_name();
  std::shared_ptr<listener> front_;
  std::vector<entry> ranks_;
  std::set<client_ptr> clients_;
  bool told_ = false;
  bool told_of_starving_ = false;
};

job_directory::job_directory(peer_id size)
    : server_(std::make_unique<server>(size)),
      environment_(server_->locator() + "/" + to_text(server_->id())) {}

job_directory::~job_directory() = default;

void job_directory::ended(peer_id rank, bool died) { server_->ended(rank, died); }

bool parse_job_environment(const std::string& text, std::string& locator, context_id& job) {
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return false;
  const auto id = id_from_text(std::string_view(text).substr(slash + 1));
  locator = text.substr(0, slash);
  if (!id || !is_socket_name(locator)) return false;
  job = *id;
  return true;
}

}  // namespace weft::wireup
