// SPDX-License-Identifier: Apache-2.0
#include "wireup/bootstrap/root_listener.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <exception>
#include <new>
#include <utility>

#include <weft/error.hpp>

#include "net/address.hpp"
#include "net/socket.hpp"
#include "runtime/os/errno_hint.hpp"
#include "wireup/loop/connection.hpp"
#include "wireup/sockets/tcp_socket.hpp"

namespace weft::wireup {

namespace {

constexpr auto time_to_greet = std::chrono::seconds(5);

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

unique_fd listen_at(const std::string& host, std::uint16_t port) {
  const auto numeric = net::address::of_text(host);
  if (!numeric) return {};
  const auto at = net::address::of_ip(numeric->is_v6(), numeric->ip(), port);
  return net::listen_on(at, net::takes::ipv4_too, SOMAXCONN);
}

}  // namespace

/// A connection as the book sees it; keeps itself alive until it has ended.
class root_listener::client final : public root_book::client,
                                    public connection::user,
                                    public std::enable_shared_from_this<client> {
 public:
  client(root_listener& home, proven_socket socket)
      : book_(home.book_),
        link_(std::make_shared<connection>(home.loop_, std::move(socket.fd),
                                           connection::medium::tcp, std::move(socket.sealed))),
        patience_(home.loop_.io()) {}

  void start() {
    patience_.expires_after(time_to_greet);
    patience_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
      if (!fault) self->book_.on_impatience(self);
    });
    link_->start(shared_from_this());
  }

  void send(frame f) override { link_->send(std::move(f)); }
  void close_when_sent() override {
    patience_.cancel();
    link_->close_when_sent();
  }
  void close() override {
    patience_.cancel();
    link_->close();
  }
  std::string name() const override { return "a process at " + link_->peer_name(); }

  void on_frame(frame f) override {
    if (f.kind == frame_kind::root_hello) patience_.cancel();
    book_.on_frame(shared_from_this(), f);
  }
  void on_ended(connection::ending) override {
    patience_.cancel();
    book_.on_ended(shared_from_this());
  }

 private:
  root_book& book_;
  const std::shared_ptr<connection> link_;
  asio::steady_timer patience_;
};

unique_fd root_listener::open(const root_place& at) {
  const bool here = is_loopback(at.host);
  unique_fd socket = listen_at(at.host == "localhost" ? "127.0.0.1"
                               : here                 ? at.host
                                                      : "::",
                               at.port);
  if (!socket && !here) socket = listen_at("0.0.0.0", at.port);  // no IPv6 in the kernel
  if (socket) return socket;
  const int fault = errno;
  throw error(errc::system,
              fmt::format("rank 0 cannot listen for the other ranks at port {}: {}{}", at.port,
                          runtime::describe_errno(fault),
                          fault == EADDRINUSE
                              ? "; another job or program has the port: set WEFT_ROOT=host:port "
                                "with another one, the same for all ranks"
                              : ""));
}

root_listener::root_listener(loop& on, unique_fd socket, root_book& book, terms t)
    : loop_(on), book_(book), terms_(std::move(t)), in_handshake_(book.most_unnamed()) {
  front_ = std::make_shared<listener>(
      loop_, std::move(socket), [this](unique_fd who) { on_client(std::move(who)); },
      [this](int fault) {
        if (!std::exchange(told_, true))
          terms_.reports->warning("rank 0 cannot accept a rank: {} (said once)",
                                  runtime::describe_errno(fault));
      },
      nullptr);
  front_->start();
}

void root_listener::close() {
  front_->close();
  in_handshake_.close_all();
}

void root_listener::on_client(unique_fd socket) try {
  if (const auto wrong = tcp_answering::is_unwanted(socket.get())) {
    if (!wrong->empty()) turned_away(socket.get(), std::string(*wrong));
    return;
  }
  tcp_answering::terms t;
  t.by.key = terms_.key;
  t.encryption = terms_.encryption;
  t.admit = [this](proven_socket proven) { admit(std::move(proven)); };
  t.turn_away = [this](int who, const std::string& what) { turned_away(who, what); };
  in_handshake_.start(loop_, std::move(socket), std::move(t));
} catch (const std::bad_alloc&) {
  throw;
} catch (const std::exception& e) {
  terms_.reports->warning("the connection of a rank had to be dropped: {}", e.what());
}

void root_listener::admit(proven_socket proven) {
  prepare_tcp(proven.fd.get(), terms_.peer_timeout);
  const auto c = std::make_shared<client>(*this, std::move(proven));
  book_.on_client(c);
  c->start();
}

void root_listener::turned_away(int socket, const std::string& what) {
  if (!std::exchange(told_, true))
    terms_.reports->warning("rank 0 turned {} away: {} (said once)", name_of_peer(socket), what);
}

}  // namespace weft::wireup
