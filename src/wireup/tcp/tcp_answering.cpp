// SPDX-License-Identifier: Apache-2.0
#include "wireup/tcp/tcp_answering.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

#include "wireup/base/byte_io.hpp"

namespace weft::wireup {

using asio::ip::tcp;

namespace {
constexpr auto time_to_talk = std::chrono::seconds(5);
constexpr std::string_view left_early = "it hung up in the middle of the handshake";
constexpr std::string_view not_ours = "it does not speak this version of weft's protocol";
}  // namespace

tcp_answering::tcp_answering(loop& on, unique_fd socket, terms t)
    : socket_(on.io()), patience_(on.io()), terms_(std::move(t)) {
  asio::error_code fault;
  socket_.assign(tcp::v4(), socket.get(), fault);
  if (fault) throw std::system_error(fault, "epoll_ctl");
  socket.release();
}

std::optional<std::string_view> tcp_answering::is_unwanted(int socket) noexcept {
  opening said{};
  const ssize_t n = ::recv(socket, said.data(), said.size(), MSG_PEEK | MSG_DONTWAIT);
  if (n == 0) return std::string_view{};
  if (n != std::ssize(said) || decode_opening(said)) return std::nullopt;
  return not_ours;
}

/// Goes on with `next` when the array is full. A client that hangs up before that is turned away,
/// or only closed if it has sent nothing at all.
template <std::size_t N, class Next>
void tcp_answering::read(std::array<std::byte, N>& into, Next next) {
  asio::async_read(socket_, asio::buffer(into),
                   [self = shared_from_this(), next](const asio::error_code& fault, std::size_t n) {
                     if (!self->socket_.is_open()) return;
                     if (!fault) return next(*self);
                     if (n == 0 && !self->challenger_) return self->close();
                     self->turn_away(std::string(left_early));
                   });
}

void tcp_answering::start() {
  patience_.expires_after(time_to_talk);
  patience_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    if (!fault) self->turn_away("it was silent, or too slow, for five seconds");
  });
  read(opening_, [](tcp_answering& self) { self.on_opening(); });
}

void tcp_answering::on_opening() {
  const auto wanted = decode_opening(opening_);
  if (!wanted) return turn_away(std::string(not_ours));
  shown_ = standing::spoken;
  if (*wanted == approach::ask) {
    if (!terms_.answer) return turn_away("it asked a listener that answers no questions");
    answer_ = encode(*terms_.answer);
    return asio::async_write(
        socket_, asio::buffer(answer_),
        [self = shared_from_this()](const asio::error_code&, std::size_t) { self->close(); });
  }
  if (*wanted == approach::certify || terms_.by.certificates) return on_certify(*wanted);
  if (!terms_.by.is_there()) return turn_away("this side has no job key (WEFT_JOB_KEY)");
  const net::tls::stance own = terms_.encryption->of(socket_.native_handle());
  if (*wanted == approach::encrypt) {
    if (net::tls::takes(own)) return begin_to_encrypt(approach::encrypt, stream_by_key());
    return offer_instead(approach::prove, fmt::format("it encrypts, and this side does not ({})",
                                                      net::tls::text_of(own)));
  }
  if (net::tls::wants(own))
    return offer_instead(approach::encrypt, fmt::format("it does not encrypt, and this side does "
                                                        "({})",
                                                        net::tls::text_of(own)));
  challenger_.emplace(terms_.by.key);
  asio::async_write(socket_, asio::buffer(challenger_->question()),
                    [self = shared_from_this()](const asio::error_code& fault, std::size_t) {
                      if (!self->socket_.is_open()) return;
                      if (fault) return self->turn_away(std::string(left_early));
                      self->read(self->proof_, [](tcp_answering& next) { next.on_proof(); });
                    });
}

/// The client learns what it would have to do, and is disconnected: it comes again, or says why
/// not.
void tcp_answering::offer_instead(approach other, std::string what) {
  opening_ = encode_opening(other);
  asio::async_write(socket_, asio::buffer(opening_),
                    [self = shared_from_this(), what = std::move(what)](
                        const asio::error_code&, std::size_t) { self->turn_away(what); });
}

void tcp_answering::on_certify(approach wanted) {
  const auto& own = terms_.by.certificates;
  if (own && wanted == approach::certify)
    return begin_to_encrypt(approach::certify,
                            std::make_unique<net::tls::stream>(*own, socket_.native_handle()));
  if (own)
    return offer_instead(approach::certify, "it shows no certificate (WEFT_TLS_CERTIFICATE)");
  offer_instead(approach::prove,
                "it shows a certificate, and this listener has none (WEFT_TLS_CERTIFICATE)");
}

std::unique_ptr<net::tls::stream> tcp_answering::stream_by_key() {
  const auto find = [key = tls_key_of(terms_.by.key)](
                        std::span<const std::byte> name) -> std::optional<net::tls::key> {
    if (!std::ranges::equal(name, text_bytes(name_of_tls_key))) return {};
    return key;
  };
  return std::make_unique<net::tls::stream>(terms_.encryption->settings(), socket_.native_handle(),
                                            find);
}

void tcp_answering::begin_to_encrypt(approach how, std::unique_ptr<net::tls::stream> by) {
  sealed_ = std::move(by);
  opening_ = encode_opening(how);
  asio::async_write(socket_, asio::buffer(opening_),
                    [self = shared_from_this()](const asio::error_code& fault, std::size_t) {
                      if (!self->socket_.is_open()) return;
                      if (fault) return self->turn_away(std::string(left_early));
                      self->shake_hands();
                    });
}

void tcp_answering::shake_hands() {
  using step = net::tls::step;
  switch (sealed_->shake_hands()) {
    case step::again:
      return socket_.async_wait(tcp::socket::wait_read,
                                [self = shared_from_this()](const asio::error_code& fault) {
                                  if (!fault && self->socket_.is_open()) self->shake_hands();
                                });
    case step::done:
      return let_in();
    case step::hung_up:
      return turn_away(std::string(left_early));
    case step::turned_away:
    case step::failed:
      terms_.encryption->note_failure();
      return turn_away(terms_.by.certificates ? sealed_->trouble()
                                              : "it does not know the job's key");
  }
}

/// A client that has shown a certificate waits for the verdict.
void tcp_answering::let_in() {
  if (terms_.by.certificates && sealed_->write(opening_) != std::ssize(opening_))
    return turn_away(std::string(left_early));
  const admission known = sealed_->secret();
  patience_.cancel();
  shown_ = standing::proven;
  terms_.admit({unique_fd(socket_.release()), known, std::move(sealed_)});
}

void tcp_answering::on_proof() {
  const auto confirmation = challenger_->judge(proof_);
  if (!confirmation) return turn_away("it does not know the job's key");
  shown_ = standing::proven;
  confirmation_ = *confirmation;
  asio::async_write(
      socket_, asio::buffer(confirmation_),
      [self = shared_from_this()](const asio::error_code& fault, std::size_t) {
        if (!self->socket_.is_open()) return;
        if (fault) return self->close();
        self->patience_.cancel();
        unique_fd passed(self->socket_.release());
        self->terms_.admit({std::move(passed), self->challenger_->secret(self->proof_)});
      });
}

void tcp_answering::turn_away(std::string what) {
  if (!socket_.is_open()) return;
  if (terms_.turn_away) terms_.turn_away(socket_.native_handle(), std::move(what));
  close();
}

void tcp_answering::close() {
  asio::error_code ignored;
  socket_.close(ignored);
  patience_.cancel();
}

}  // namespace weft::wireup
