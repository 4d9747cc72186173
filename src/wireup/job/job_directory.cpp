// SPDX-License-Identifier: Apache-2.0
#include "wireup/job/job_directory.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <weft/error.hpp>

#include "runtime/os/errno_hint.hpp"
#include "wireup/job/job_book.hpp"
#include "wireup/loop/connection.hpp"
#include "wireup/loop/listener.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

namespace {

constexpr auto time_to_enter = std::chrono::seconds(5);

}  // namespace

class job_directory::server {
 public:
  server(peer_id size, runtime::log_ptr reports)
      : log_(std::move(reports)), loop_(std::make_shared<loop>([] {}, log_)), book_(id_, size) {
    opened socket = listen_abstract(locator_);
    if (!socket.fd)
      throw error(errc::system,
                  fmt::format("cannot listen on a Unix socket for the job: {}; {}",
                              std::strerror(socket.error), runtime::errno_hint(socket.error)));
    loop_->post([this, fd = std::move(socket.fd)]() mutable {
      front_ = std::make_shared<listener>(
          *loop_, std::move(fd), [this](unique_fd who) { on_client(std::move(who)); },
          [this](int fault) { on_starving(fault); }, nullptr);
      front_->start();
    });
  }

  ~server() {
    loop_->end([this] {
      if (front_) front_->close();
      book_.close();
    });
  }

  const std::string& locator() const { return locator_; }
  const context_id& id() const { return id_; }

  void ended(peer_id rank, bool died) {
    loop_->post([this, rank, died] { book_.on_rank_ended(rank, died); });
  }

 private:
  struct client final : job_book::client, connection::user, std::enable_shared_from_this<client> {
    client(server& whose, unique_fd socket)
        : home(whose),
          link(std::make_shared<connection>(*whose.loop_, std::move(socket))),
          deadline_timer(whose.loop_->io()) {}

    void start() {
      deadline_timer.expires_after(time_to_enter);
      deadline_timer.async_wait([self = shared_from_this()](const asio::error_code& fault) {
        if (!fault) self->home.book_.on_impatience(self);
      });
      link->start(shared_from_this());
    }

    void send(frame f) override { link->send(std::move(f)); }
    void close_when_sent() override {
      deadline_timer.cancel();
      link->close_when_sent();
    }
    void close() override {
      deadline_timer.cancel();
      link->close();
    }
    bool is_gone() const noexcept override {
      const pid_t pid = link->peer().pid;
      return link->is_cut() || (pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH);
    }
    std::string name() const override { return describe_process(link->peer().pid); }

    void on_frame(frame f) override { home.book_.on_frame(shared_from_this(), f); }
    void on_ended(connection::ending) override {
      deadline_timer.cancel();
      home.book_.on_ended(shared_from_this());
    }

    server& home;
    const std::shared_ptr<connection> link;
    asio::steady_timer deadline_timer;
  };

  void on_client(unique_fd socket) try {
    const credentials who = credentials_of(socket.get());
    if (!who.same_user) {
      if (!std::exchange(told_, true))
        log_->warning("a connection of {} was turned away: {}", describe_process(who.pid),
                      why_no_user_of_ours(who));
      return loop_->disposal()->hang_up(socket.release());
    }
    const auto c = std::make_shared<client>(*this, std::move(socket));
    book_.on_client(c);
    c->start();
  } catch (const std::exception& e) {
    log_->warning("a connection had to be dropped: {}", e.what());
  }

  void on_starving(int fault) {
    if (!std::exchange(told_of_starving_, true))
      log_->warning("cannot accept the connection of a rank: {} (said once)",
                    runtime::describe_errno(fault));
  }

  const runtime::log_ptr log_;
  const std::shared_ptr<loop> loop_;  // first, because it outlives the members below
  const context_id id_ = random_id();
  const std::string locator_ = random_socket_name();
  std::shared_ptr<listener> front_;
  job_book book_;
  bool told_ = false;
  bool told_of_starving_ = false;
};

job_directory::job_directory(peer_id size, runtime::log_ptr reports)
    : server_(std::make_unique<server>(size, std::move(reports))),
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
