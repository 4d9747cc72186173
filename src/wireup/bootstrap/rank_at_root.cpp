// SPDX-License-Identifier: Apache-2.0
#include "wireup/bootstrap/rank_at_root.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <span>
#include <utility>

#include "wireup/auth/job_key.hpp"
#include "wireup/base/byte_io.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

namespace {

constexpr auto time_to_collect_ends = std::chrono::milliseconds(2);

/// The kernel, and where Unix sockets have their names.
context_id this_host(const std::string& socket_dir) {
  std::string text;
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  std::getline(boot, text);
  struct stat names {};
  if (::stat(socket_dir.empty() ? "/proc/self/ns/net" : socket_dir.c_str(), &names) == 0)
    text += fmt::format(" {} {}", names.st_dev, names.st_ino);
  const digest d = authenticate({}, {text_bytes(text)});
  return byte_reader(std::span<const std::byte>(d).first(sizeof(context_id))).get_id();
}

/// Rank 0's own end of a connection to its book.
class own_client final : public root_book::client {
 public:
  explicit own_client(std::function<void(frame)> hear) : hear_(std::move(hear)) {}
  void send(frame f) override { hear_(std::move(f)); }
  void close_when_sent() override {}
  void close() override {}
  std::string name() const override { return "the process that listens for all ranks"; }

 private:
  const std::function<void(frame)> hear_;
};

}  // namespace

rank_at_root::rank_at_root(std::shared_ptr<loop> on, const given_rank& given,
                           const launch_terms& terms)
    : loop_(std::move(on)),
      given_(given),
      terms_(terms),
      member_(
          {given.rank, given.size, this_host(terms.socket_dir)},
          [this](frame f) { say(std::move(f)); },
          [this](root_member::outcome o) { on_answer(std::move(o)); }),
      tell_(loop_->io()),
      publishing_(loop_->io()) {}

void rank_at_root::enter(unique_fd listening, entered done) {
  done_ = std::move(done);
  if (given_.rank != 0) return call();
  book_.emplace(random_id(), given_.size, [this] {
    tell_.expires_after(time_to_collect_ends);
    tell_.async_wait([this](const asio::error_code& fault) {
      if (!fault) book_->tell_ends();
    });
  });
  listener_ = std::make_unique<root_listener>(
      *loop_, std::move(listening), *book_,
      root_listener::terms{terms_.key, terms_.peer_timeout, encryption_, terms_.reports});
  self_ = std::make_shared<own_client>([this](frame f) {
    loop_->post([this, heard = std::make_shared<frame>(std::move(f))] { hear(*heard); });
  });
  book_->on_client(self_);
  member_.greet();
}

void rank_at_root::call() {
  root_caller::events to;
  to.connected = [this] { member_.greet(); };
  to.on_frame = [this](const frame& f) { hear(f); };
  to.lost = [this] { on_lost(); };
  to.failed = [this](std::string why) { fail(std::move(why)); };
  caller_ = std::make_shared<root_caller>(loop_, given_.root, terms_.key, encryption_,
                                          terms_.peer_timeout, std::move(to));
  caller_->start();
}

void rank_at_root::say(frame f) {
  if (book_) return book_->on_frame(self_, f);
  caller_->send(std::move(f));
}

void rank_at_root::hear(const frame& f) {
  const bool was_in = member_.is_welcome();
  if (!member_.on_frame(f)) {
    const std::string why = "what rank 0 says is not of this version of weft";
    if (!done_) terms_.reports->warning("{}; ranks not met yet can no longer be found", why);
    fail(why);
    if (caller_) caller_->close();
    member_.stop();
  } else if (was_in && is_orderly_bye(f) && caller_) {
    caller_->close_when_sent();
  }
}

void rank_at_root::on_lost() {
  if (member_.on_lost())
    terms_.reports->warning("rank 0 is gone; ranks not met yet can no longer be found");
}

void rank_at_root::on_answer(root_member::outcome o) {
  if (o.again && caller_) return caller_->start_again();
  if (o.welcome && book_) await_publishing();
  finish(std::move(o));
}

/// All ranks wait for one that is welcome and does not go on.
void rank_at_root::await_publishing() {
  publishing_.expires_after(terms_.start_timeout);
  publishing_.async_wait([this](const asio::error_code& fault) {
    if (fault) return;
    for (const peer_id r : book_->unpublished())
      terms_.reports->warning("rank {} is lost: it has not said where it listens for {} s", r,
                              terms_.start_timeout.count());
    book_->drop_unpublished();
  });
}

std::string rank_at_root::waits() const {
  if (book_) return fmt::format("waits for {} of {}", book_->missing(), given_.size);
  const std::string where = to_text(given_.root);
  if (caller_->is_connected())
    return fmt::format("waits for the other ranks, as rank 0 at {} does", where);
  if (!caller_->last_failure().empty()) return caller_->last_failure();
  return fmt::format("rank 0 at {} does not answer", where);
}

void rank_at_root::say_who_is_awaited(std::chrono::seconds after) const {
  if (done_)
    terms_.reports->warning("rank {}, after {} s: {}", given_.rank, after.count(), waits());
}

/// On rank 0, its own member learns it as all others do.
void rank_at_root::on_timeout(bool at_last) {
  const std::string time = fmt::format("{} s", terms_.start_timeout.count() * (at_last ? 2 : 1));
  if (book_) return book_->on_timeout(time);
  if (at_last || !caller_->is_connected()) fail(fmt::format("after {}: {}", time, waits()));
}

void rank_at_root::when_settled(std::function<void()> then) {
  if (book_) return book_->when_settled(std::move(then));
  then();
}

void rank_at_root::leave() {
  if (caller_) {
    caller_->send(encode_orderly_bye());
    caller_->close_when_sent();
  }
  end_root();
  member_.stop();
}

void rank_at_root::end_root() {
  if (listener_) listener_->close();
  tell_.cancel();
  publishing_.cancel();
  if (book_) book_->close();
}

void rank_at_root::give_up() {
  fail("there is no memory");
  if (caller_) caller_->close();
  end_root();
  member_.stop();
}

void rank_at_root::finish(root_member::outcome o) {
  if (const auto done = std::exchange(done_, nullptr)) done(std::move(o));
}

}  // namespace weft::wireup
