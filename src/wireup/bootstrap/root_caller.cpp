// SPDX-License-Identifier: Apache-2.0
#include "wireup/bootstrap/root_caller.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "wireup/sockets/tcp_socket.hpp"

namespace weft::wireup {

namespace {
// A thousand ranks that wait for rank 0 try once a second each.
constexpr std::chrono::milliseconds first_pause_of_calls{20}, longest_pause_of_calls{1000};
}  // namespace

root_caller::root_caller(std::shared_ptr<loop> on, root_place root, job_key key,
                         std::shared_ptr<encryption> encrypts, std::chrono::seconds peer_timeout,
                         events to)
    : loop_(std::move(on)),
      root_(std::move(root)),
      key_(std::move(key)),
      encryption_(std::move(encrypts)),
      peer_timeout_(peer_timeout),
      to_(std::move(to)),
      pause_(loop_->io()),
      next_pause_(first_pause_of_calls) {}

void root_caller::start() {
  if (closed_) return;
  last_failure_.clear();
  asking_ = std::make_shared<tcp_asking>(
      loop_, tcp_place{root_.host, root_.port}, "rank 0 at " + to_text(root_), key_, encryption_,
      [self = shared_from_this()](tcp_asking::outcome r) { self->on_answer(std::move(r)); });
  asking_->start();
}

void root_caller::on_answer(tcp_asking::outcome result) {
  asking_.reset();
  if (closed_) return;
  if (!result.socket.fd) {
    last_failure_ = result.why.text;
    return result.may_come ? start_again() : to_.failed(result.why.text);
  }
  prepare_tcp(result.socket.fd.get(), peer_timeout_);
  try {
    link_ = std::make_shared<connection>(*loop_, std::move(result.socket.fd),
                                         connection::medium::tcp, std::move(result.socket.sealed));
  } catch (const std::system_error& e) {
    return to_.failed(std::string("cannot watch the connection to rank 0: ") + e.what());
  }
  link_->start(shared_from_this());
  to_.connected();
}

void root_caller::start_again() {
  if (closed_) return;
  if (link_) link_->close();
  link_.reset();
  pause_.expires_after(next_pause_);
  next_pause_ = std::min(next_pause_ * 2, longest_pause_of_calls);
  pause_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    if (!fault) self->start();
  });
}

void root_caller::on_ended(connection::ending) {
  link_.reset();
  to_.lost();
}

void root_caller::send(frame f) {
  if (link_) link_->send(std::move(f));
}

void root_caller::close_when_sent() {
  if (!link_) return close();
  closed_ = true;
  link_->close_when_sent();
}

void root_caller::close() {
  closed_ = true;
  pause_.cancel();
  if (const auto asking = std::exchange(asking_, nullptr)) asking->close();
  if (const auto link = std::exchange(link_, nullptr)) link->close();
}

}  // namespace weft::wireup
