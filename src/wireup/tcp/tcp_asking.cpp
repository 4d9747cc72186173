// SPDX-License-Identifier: Apache-2.0
#include "wireup/tcp/tcp_asking.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <utility>

#include "runtime/os/errno_hint.hpp"
#include "wireup/base/byte_io.hpp"
#include "wireup/loop/name_lookup.hpp"

namespace weft::wireup {

using asio::ip::tcp;

namespace {
constexpr auto time_to_answer = std::chrono::seconds(10);
// The pause before the second try; it doubles before each further one.
constexpr auto first_pause = std::chrono::milliseconds(50);
constexpr int most_tries_to_open = 5;
// After the proof was sent, the other side may have hung up because the proof is wrong.
constexpr int most_tries_to_prove = 3;
constexpr const char* no_answer =
    "it hung up without an answer; the listener has just been closed, is not weft's, or has no "
    "file "
    "descriptor left (ulimit -n)";
constexpr const char* another_version = "what listens there is not this version of weft";
constexpr const char* no_key_there = "the process that listens there does not know the job's key";
constexpr const char* not_admitted =
    "it hung up: this side's job key is not that job's (WEFT_JOB_KEY)";
}  // namespace

tcp_asking::tcp_asking(std::shared_ptr<loop> on, tcp_place where, std::string called, job_key key,
                       std::shared_ptr<encryption> encrypts, answered done)
    : where_(std::move(where)),
      called_(std::move(called)),
      key_(std::move(key)),
      encryption_(std::move(encrypts)),
      prover_(key_),
      done_(std::move(done)),
      loop_(std::move(on)),
      socket_(loop_->io()),
      patience_(loop_->io()),
      pause_(loop_->io()) {}

void tcp_asking::start() {
  patience_.expires_after(time_to_answer);
  patience_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    if (fault) return;
    if (self->last_words_) return self->fail(errc::refused, self->last_words_);
    self->fail(errc::unreachable, "it does not answer; is it weft that listens there?");
  });
  if (const auto known = numeric_endpoint(where_.host, where_.port)) {
    found_ = {*known};
    return connect_next();
  }
  look_up(loop_, where_.host, where_.port, [weak = weak_from_this()](addresses_of_name found) {
    const auto self = weak.lock();
    if (!self || !self->done_) return;
    if (found.all.empty())
      return self->fail(errc::unreachable, fmt::format("no such host ({})", found.fault));
    self->found_ = std::move(found.all);
    self->connect_next();
  });
}

void tcp_asking::connect_next() {
  if (next_ == found_.size()) {
    if (last_fault_ == asio::error::connection_refused)
      return fail(errc::refused,
                  "nobody listens there; start the other side first, or check the port");
    return fail(errc::unreachable, runtime::describe_errno(last_fault_.value()));
  }
  connect_to(found_[next_++]);
}

void tcp_asking::connect_to(const tcp::endpoint& to) {
  at_ = to;
  met_ = false;
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
    // The other side closed its listener while this connection was still in the listener's queue.
    if (fault == asio::error::connection_reset) return self->hung_up(no_answer, most_tries_to_open);
    self->last_fault_ = fault;
    if (fault) return self->connect_next();
    self->open();
  });
}

/// \param tries the most tries in all
void tcp_asking::hung_up(const char* why, int tries) {
  last_words_ = why;
  if (++hang_ups_ >= tries) return fail(errc::refused, why);
  asio::error_code ignored;
  socket_.close(ignored);
  pause_.expires_after(first_pause * (1 << (hang_ups_ - 1)));
  pause_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    if (!fault && self->done_) self->connect_to(self->at_);
  });
}

template <std::size_t N, class Next>
void tcp_asking::read(std::array<std::byte, N>& into, const char* words, Next next) {
  asio::async_read(
      socket_, asio::buffer(into),
      [self = shared_from_this(), words, next](const asio::error_code& fault, std::size_t) {
        if (!self->done_) return;
        if (fault)
          return self->hung_up(words,
                               words == not_admitted ? most_tries_to_prove : most_tries_to_open);
        next(*self);
      });
}

template <std::size_t N, class Next>
void tcp_asking::write(const std::array<std::byte, N>& from, Next next) {
  asio::async_write(socket_, asio::buffer(from),
                    [self = shared_from_this(), next](const asio::error_code& fault, std::size_t) {
                      if (!self->done_) return;
                      if (fault) return self->hung_up(no_answer, most_tries_to_open);
                      next(*self);
                    });
}

/// Where the other side is decides once; after its reply only that counts.
void tcp_asking::open() {
  if (!key_.empty() && approach_ == approach::ask) {
    stance_ = encryption_->of(socket_.native_handle());
    approach_ = net::tls::wants(stance_) ? approach::encrypt : approach::prove;
  }
  opening_ = encode_opening(approach_);
  write(opening_, [](tcp_asking& self) {
    self.approach_ == approach::ask ? self.read_answer() : self.read_reply();
  });
}

void tcp_asking::read_reply() {
  read(opening_,
       "it hung up without a challenge; it has no job key (WEFT_JOB_KEY), no file descriptor left "
       "(ulimit -n), or is not weft",
       [](tcp_asking& self) {
         self.met_ = true;
         self.on_reply(decode_opening(self.opening_));
       });
}

void tcp_asking::on_reply(std::optional<approach> takes) {
  if (!takes || *takes == approach::ask) return fail(errc::unreachable, another_version);
  if (*takes == approach_)
    return approach_ == approach::encrypt ? begin_to_encrypt() : read_challenge();
  if (*takes == approach::encrypt && net::tls::takes(stance_)) {
    approach_ = approach::encrypt;
    return connect_to(at_);
  }
  fail(errc::refused,
       fmt::format("this side has {}, and the other side {}: set the same on both, in builds with "
                   "OpenSSL (libssl-dev)",
                   net::tls::text_of(stance_),
                   *takes == approach::encrypt ? "encrypts (WEFT_TCP_TLS=yes, or auto)"
                                               : "does not encrypt (WEFT_TCP_TLS=no, or built "
                                                 "without OpenSSL)"));
}

void tcp_asking::begin_to_encrypt() try {
  sealed_ = std::make_unique<net::tls::stream>(encryption_->settings(), socket_.native_handle(),
                                               text_bytes(name_of_tls_key), tls_key_of(key_));
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
    case step::done: {
      outcome passed;
      passed.socket = {unique_fd(socket_.release()), sealed_->secret(), std::move(sealed_)};
      return end(std::move(passed));
    }
    case step::hung_up:
      sealed_.reset();
      return hung_up(no_answer, most_tries_to_open);
    case step::turned_away:
      encryption_->note_failure();
      return fail(errc::refused, not_admitted);
    case step::failed:
      encryption_->note_failure();
      return fail(errc::refused, fmt::format("{} (TLS: {})", no_key_there, sealed_->trouble()));
  }
}

void tcp_asking::read_answer() {
  read(answer_, no_answer, [](tcp_asking& self) {
    self.met_ = true;
    auto answer = decode_listener_answer(self.answer_);
    if (!answer) return self.fail(errc::unreachable, another_version);
    self.end({std::move(answer), {}, {}});
  });
}

void tcp_asking::read_challenge() {
  read(nonce_, no_answer, [](tcp_asking& self) {
    std::ranges::copy(self.opening_, self.challenge_.begin());
    std::ranges::copy(self.nonce_, self.challenge_.begin() + opening_size);
    const auto made = self.prover_.answer(self.challenge_);
    if (!made) return self.fail(errc::unreachable, another_version);
    self.proof_ = *made;
    self.write(self.proof_, [](tcp_asking& next) { next.read_confirmation(); });
  });
}

void tcp_asking::read_confirmation() {
  read(confirmation_, not_admitted, [](tcp_asking& self) {
    if (!self.prover_.confirmed_by(self.confirmation_))
      return self.fail(errc::refused, no_key_there);
    outcome passed;
    passed.socket = {unique_fd(self.socket_.release()), self.prover_.secret()};
    self.end(std::move(passed));
  });
}

void tcp_asking::fail(errc kind, const std::string& why) {
  outcome failed;
  failed.why = {kind, fmt::format("cannot reach {}: {}", called_, why)};
  failed.may_come = !met_;
  end(std::move(failed));
}

void tcp_asking::end(outcome result) {
  const std::shared_ptr<tcp_asking> self = shared_from_this();
  const answered done = std::exchange(done_, nullptr);
  close();
  if (done) done(std::move(result));
}

void tcp_asking::close() {
  done_ = nullptr;
  asio::error_code ignored;
  socket_.close(ignored);
  patience_.cancel();
  pause_.cancel();
}

}  // namespace weft::wireup
