// SPDX-License-Identifier: Apache-2.0
#include "wireup/any_door.hpp"

#include <fmt/format.h>

#include <chrono>
#include <system_error>
#include <utility>

namespace weft::wireup {

using asio::ip::tcp;
using runtime::unique_fd;

namespace {
constexpr auto time_to_ask = std::chrono::seconds(5);
constexpr auto time_to_answer = std::chrono::seconds(10);
}  // namespace

door_answering::door_answering(loop& on, unique_fd socket, const door_answer& answer)
    : socket_(on.io()), patience_(on.io()), answer_(encode(answer)) {
  asio::error_code fault;
  socket_.assign(tcp::v4(), socket.get(), fault);
  if (fault) throw std::system_error(fault, "epoll_ctl");
  socket.release();
}

void door_answering::start() {
  patience_.expires_after(time_to_ask);
  patience_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    if (!fault) self->close();
  });
  asio::async_read(socket_, asio::buffer(question_),
                   [self = shared_from_this()](const asio::error_code& fault, std::size_t) {
                     if (fault || !is_door_question(self->question_)) return self->close();
                     asio::async_write(
                         self->socket_, asio::buffer(self->answer_),
                         [self](const asio::error_code&, std::size_t) { self->close(); });
                   });
}

void door_answering::close() {
  asio::error_code ignored;
  socket_.close(ignored);
  patience_.cancel();
}

door_asking::door_asking(loop& on, door_address address, answered done)
    : address_(std::move(address)),
      done_(std::move(done)),
      resolver_(on.io()),
      socket_(on.io()),
      patience_(on.io()) {}

void door_asking::start() {
  patience_.expires_after(time_to_answer);
  patience_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    if (!fault) self->fail("it does not answer; is it weft that listens there?", false);
  });
  const std::string host = address_.host.empty() ? "127.0.0.1" : address_.host;
  asio::error_code not_numeric;
  const auto numeric = asio::ip::make_address(host, not_numeric);
  if (!not_numeric) {
    // No question to a name server, and no thread to wait for its answer.
    found_ = tcp::resolver::results_type::create(tcp::endpoint(numeric, address_.port), host, {});
    next_ = found_.begin();
    return connect_next();
  }
  resolver_.async_resolve(host, fmt::format("{}", address_.port), tcp::resolver::numeric_service,
                          [self = shared_from_this()](const asio::error_code& fault,
                                                      tcp::resolver::results_type found) {
                            if (!self->done_) return;
                            if (fault)
                              return self->fail(fmt::format("no such host ({})", fault.message()),
                                                false);
                            self->found_ = std::move(found);
                            self->next_ = self->found_.begin();
                            self->connect_next();
                          });
}

void door_asking::connect_next() {
  if (next_ == found_.end()) {
    if (last_fault_ == asio::error::connection_refused)
      return fail("nobody listens there; start the other side first, or check the port", true);
    return fail(last_fault_.message(), false);
  }
  const tcp::endpoint to = *next_++;
  asio::error_code ignored;
  socket_.close(ignored);
  unique_fd fd{::socket(to.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (!fd) {
    last_fault_ = asio::error_code(errno, asio::error::get_system_category());
    return connect_next();
  }
  socket_.assign(to.protocol(), fd.get(), last_fault_);
  if (last_fault_) return connect_next();
  fd.release();
  socket_.async_connect(to, [self = shared_from_this()](const asio::error_code& fault) {
    if (!self->done_) return;
    self->last_fault_ = fault;
    if (fault) return self->connect_next();
    self->ask();
  });
}

void door_asking::ask() {
  const auto question = std::make_shared<std::vector<std::byte>>(encode_door_question());
  asio::async_write(
      socket_, asio::buffer(*question),
      [self = shared_from_this(), question](const asio::error_code& unsent, std::size_t) {
        if (!self->done_) return;
        if (unsent) return self->hung_up();
        asio::async_read(self->socket_, asio::buffer(self->answer_),
                         [self](const asio::error_code& fault, std::size_t) {
                           if (!self->done_) return;
                           if (fault) return self->hung_up();
                           auto answer = decode_door_answer(self->answer_);
                           if (!answer)
                             return self->fail("what listens there is not this version of weft",
                                               false);
                           self->end(std::move(answer), {});
                         });
      });
}

void door_asking::hung_up() {
  fail("it hung up without an answer; the door has just been shut, or is not weft's", true);
}

void door_asking::fail(const std::string& why, bool refused) {
  end(std::nullopt,
      fmt::format("{}cannot reach {}: {}", refused ? "refused: " : "", to_text(address_), why));
}

void door_asking::end(std::optional<door_answer> answer, std::string failure) {
  const std::shared_ptr<door_asking> self = shared_from_this();
  const answered done = std::exchange(done_, nullptr);
  close();
  if (done) done(std::move(answer), std::move(failure));
}

void door_asking::close() {
  done_ = nullptr;
  asio::error_code ignored;
  socket_.close(ignored);
  resolver_.cancel();
  patience_.cancel();
}

}  // namespace weft::wireup
