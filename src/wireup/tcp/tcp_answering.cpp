// SPDX-License-Identifier: Apache-2.0
#include "wireup/tcp/tcp_answering.hpp"

#include <sys/socket.h>

#include <chrono>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace weft::wireup {

using asio::ip::tcp;

namespace {
constexpr auto time_to_talk = std::chrono::seconds(5);
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
                     self->turn_away("it hung up in the middle of the handshake");
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
  if (terms_.key.empty()) return turn_away("this side has no job key (WEFT_JOB_KEY)");
  challenger_.emplace(terms_.key);
  asio::async_write(socket_, asio::buffer(challenger_->question()),
                    [self = shared_from_this()](const asio::error_code& fault, std::size_t) {
                      if (!self->socket_.is_open()) return;
                      if (fault)
                        return self->turn_away("it hung up in the middle of the handshake");
                      self->read(self->proof_, [](tcp_answering& next) { next.on_proof(); });
                    });
}

void tcp_answering::on_proof() {
  const auto confirmation = challenger_->judge(proof_);
  if (!confirmation) return turn_away("it does not know the job's key");
  shown_ = standing::proven;
  confirmation_ = *confirmation;
  asio::async_write(socket_, asio::buffer(confirmation_),
                    [self = shared_from_this()](const asio::error_code& fault, std::size_t) {
                      if (!self->socket_.is_open()) return;
                      if (fault) return self->close();
                      self->patience_.cancel();
                      unique_fd passed(self->socket_.release());
                      self->terms_.admit(std::move(passed),
                                         self->challenger_->secret(self->proof_));
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
