// SPDX-License-Identifier: Apache-2.0
// The connecting side's handshake by TLS: with the job's key, or with certificates.
#include <fmt/format.h>

#include <cerrno>
#include <span>
#include <utility>

#include "wireup/base/byte_io.hpp"
#include "wireup/tcp/tcp_asking.hpp"

namespace weft::wireup {

using asio::ip::tcp;

void tcp_asking::begin_to_encrypt() try {
  const int socket = socket_.native_handle();
  sealed_ = by_.certificates ? std::make_unique<net::tls::stream>(
                                   *by_.certificates, socket,
                                   where_.host.empty() ? std::string("localhost") : where_.host)
                             : std::make_unique<net::tls::stream>(encryption_->settings(), socket,
                                                                  text_bytes(name_of_tls_key),
                                                                  tls_key_of(by_.key));
  shake_hands();
} catch (const error& e) {
  fail(errc::unreachable, e.what());
}

void tcp_asking::shake_hands() {
  using step = net::tls::step;
  switch (sealed_->shake_hands()) {
    case step::again:
      return socket_.async_wait(tcp::socket::wait_read,
                                [self = shared_from_this()](const asio::error_code& fault) {
                                  if (!fault && self->done_) self->shake_hands();
                                });
    case step::done:
      heard_ = 0;
      return by_.certificates ? await_verdict() : pass();
    case step::hung_up:
      sealed_.reset();
      return hung_up(no_answer, most_tries_to_open);
    case step::turned_away:
      encryption_->note_failure();
      return fail(errc::refused, by_.certificates ? sealed_->trouble() : not_admitted);
    case step::failed:
      encryption_->note_failure();
      return fail(errc::refused,
                  by_.certificates ? sealed_->trouble()
                                   : fmt::format("{} (TLS: {})", no_key_there, sealed_->trouble()));
  }
}

/// Of the listener, which has this side's certificate since the handshake has ended here.
void tcp_asking::await_verdict() {
  while (heard_ != opening_.size()) {
    const ssize_t n = sealed_->read(std::span(opening_).subspan(heard_));
    if (n > 0) {
      heard_ += static_cast<std::size_t>(n);
    } else if (n < 0 && errno == EAGAIN) {
      return socket_.async_wait(tcp::socket::wait_read,
                                [self = shared_from_this()](const asio::error_code& fault) {
                                  if (!fault && self->done_) self->await_verdict();
                                });
    } else if (sealed_->trouble().empty()) {
      sealed_.reset();
      return hung_up(no_answer, most_tries_to_open);
    } else {
      encryption_->note_failure();
      return fail(errc::refused, sealed_->trouble());
    }
  }
  if (decode_opening(opening_) != approach::certify)
    return fail(errc::unreachable, another_version);
  pass();
}

void tcp_asking::pass() {
  outcome passed;
  passed.socket = {unique_fd(socket_.release()), sealed_->secret(), std::move(sealed_)};
  end(std::move(passed));
}

}  // namespace weft::wireup
