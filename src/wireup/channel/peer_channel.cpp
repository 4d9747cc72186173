// SPDX-License-Identifier: Apache-2.0
#include "wireup/channel/peer_channel.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <span>
#include <utility>
#include <weft/error.hpp>

#include "runtime/os/errno_hint.hpp"
#include "wireup/loop/retry_on_bad_alloc.hpp"
#include "wireup/sockets/locator.hpp"

namespace weft::wireup {

using transports::wireup_message;

namespace {
constexpr auto time_to_say_hello = std::chrono::seconds(5);
constexpr const char* as_this_context = "it says that it is this context";

constexpr const char* has_left = "it has left";
constexpr const char* has_failed = "its program failed: an exception ended its context";
constexpr const char* has_no_descriptors =
    "it has too few free file descriptors for another peer; raise its limit on open files (ulimit "
    "-n)";
constexpr const char* has_broken = "its process died or its connection broke";
}  // namespace

peer_channel::peer_channel(std::shared_ptr<loop> on, owner& whose, proven_socket socket,
                           connection::medium m, std::uint64_t listener_number)
    : loop_(std::move(on)),
      owner_(whose),
      listener_number_(listener_number),
      certificate_(socket.certificate()),
      connection_(
          std::make_shared<connection>(*loop_, std::move(socket.fd), m, std::move(socket.sealed))),
      known_(socket.known),
      deadline_timer_(loop_->io()) {
  peer_.pid = connection_->peer().pid;
  if (connection_->peer().same_user) connection_->let_descriptors_in();
}

void peer_channel::expect(std::string origin) {
  stage_ = stage::expecting;
  origin_ = std::move(origin);
  invites_.emplace(owner_.key(), known_);
  deadline_timer_.expires_after(time_to_say_hello);
  deadline_timer_.async_wait([self = shared_from_this()](const asio::error_code& fault) {
    if (!fault && self->stage_ == stage::expecting) self->wrong("it did not say who it is");
  });
  connection_->start(shared_from_this());
  connection_->send(invites_->invite());
}

void peer_channel::ask(hello h, std::string where, std::optional<context_id> whom,
                       channel_ready done) {
  stage_ = stage::asking;
  greets_.emplace(owner_.key(), known_);
  why_ = h.why;
  lane_ = h.who.lane;
  says_ = std::move(h);
  says_.who = shown(std::move(says_.who));
  whom_ = whom;
  where_ = std::move(where);
  done_ = std::move(done);
  owner_.on_asking(shared_from_this());
  connection_->start(shared_from_this());
}

void peer_channel::admit(const identity& self) {
  lane_ = self.lane;
  if (stage_ == stage::waiting) {
    become_live();
    connection_->send(invites_->welcome(shown(self)));
    invites_.reset();
  } else if (stage_ == stage::ended) {
    become_live();
    end(proto::ended(how_));
  }
}

void peer_channel::become_live() {
  stage_ = stage::live;
  channel_events& of_lane = owner_.on_live(shared_from_this());
  if (!events_) events_ = &of_lane;
}

void peer_channel::refuse(const std::string& reason, refusal_kind kind) {
  if (stage_ != stage::expecting && stage_ != stage::waiting) return;
  closing_ = true;
  deadline_timer_.cancel();
  connection_->send(encode_refusal(reason, kind));
  connection_->close_when_sent();
}

std::vector<std::string> peer_channel::hosts() const {
  if (carries_descriptors()) return {};
  std::vector<std::string> all{host_of_peer(peer_name())};
  if (const auto where = parse_locator(peer_.locator))
    for (const tcp_place& p : where->places) all.push_back(p.host);
  return all;
}

void peer_channel::send(wireup_message p) {
  if (p.bytes.size() > wireup_message::max_bytes || p.fds.size() > wireup_message::max_fds)
    throw error(
        errc::invalid_argument,
        fmt::format(
            "a wire-up message of {} bytes and {} descriptors is too large: at most {} and {}",
            p.bytes.size(), p.fds.size(), wireup_message::max_bytes, wireup_message::max_fds));
  if (!p.fds.empty() && !carries_descriptors())
    throw error(errc::invalid_argument, "descriptors cannot travel over TCP");
  loop_->post(
      [self = shared_from_this(), f = frame{frame_kind::wireup_message, p.kind, std::move(p.bytes),
                                            std::move(p.fds)}]() mutable {
        if (self->stage_ == stage::live) self->connection_->send(std::move(f));
      });
}

void peer_channel::close() {
  loop_->post([self = shared_from_this()] { self->close_now(bye_kind::orderly); });
}

void peer_channel::process_ended() {
  loop_->post([self = shared_from_this()] {
    if (self->stage_ == stage::live) self->connection_->process_ended();
  });
}

namespace {

frame bye(bye_kind how) { return {frame_kind::bye, static_cast<std::uint8_t>(how), {}, {}}; }

}  // namespace

void peer_channel::close_now(bye_kind how) {
  if (stage_ != stage::live || closing_) return;
  closing_ = true;
  connection_->send(bye(how));
  connection_->close_when_sent();
}

void peer_channel::retire(const failure& why, bye_kind how) {
  switch (stage_) {
    case stage::live:
      return close_now(how);
    case stage::asking:
      connection_->close();
      return end_asking(why.kind, no_channel(why.text));
    case stage::expecting:
    case stage::waiting:
      if (closing_) return;  // a refusal is on its way
      connection_->close();
      return end({errc::peer_lost, has_broken});
    case stage::ended:
      return;
  }
}

void peer_channel::abandon() {
  connection_->close();
  done_ = nullptr;
  end({errc::closed, has_left});
}

void peer_channel::on_frame(frame f) {
  if (closing_ && f.kind != frame_kind::bye) return;
  switch (stage_) {
    case stage::expecting:
      return f.kind == frame_kind::dump_request ? on_dump_request(f) : on_hello(f);
    case stage::asking:
      return greeted_ || f.kind == frame_kind::refusal ? on_answer(f) : on_invitation(f);
    case stage::live:
      if (f.kind == frame_kind::wireup_message)
        return events_->on_wireup_message(
            shared_from_this(), wireup_message{f.detail, std::move(f.body), std::move(f.fds)});
      if (f.kind == frame_kind::bye && f.body.empty()) {
        connection_->close();
        switch (static_cast<bye_kind>(f.detail)) {
          case bye_kind::failed:
            return end({errc::peer_lost, has_failed});
          case bye_kind::no_descriptors:
            return end({errc::peer_lost, has_no_descriptors});
          case bye_kind::orderly:
            return end({errc::closed, has_left});
        }
      }
      break;
    case stage::waiting:
    case stage::ended:
      break;
  }
  wrong(fmt::format("it sent a frame of kind {} where none belongs", static_cast<int>(f.kind)));
}

void peer_channel::on_hello(const frame& f) {
  if (f.kind != frame_kind::hello) return wrong("it did not begin with who it is");
  decoded<hello> h = invites_->judge(f);
  if (h.value && !may_have_id(h.value->who.id)) h = {std::nullopt, as_this_context};
  if (!h.value) {
    fault_ = h.wrong;
    return refuse(fmt::format("{} cannot be let in: {}", peer_name(), h.wrong));
  }
  deadline_timer_.cancel();
  know(h.value->who);
  connection_->let_descriptors_in();
  secret_ = invites_->secret();
  stage_ = stage::waiting;
  owner_.on_hello(shared_from_this(), std::move(*h.value));
}

/// Only from this host: the kernel vouches for the user, and the other end has nothing to prove.
void peer_channel::on_dump_request(const frame& f) {
  const std::optional<dump_form> form = form_of_dump(f);
  if (!carries_descriptors() || !form)
    return wrong("it asked for a dump in a form that there is not");
  deadline_timer_.cancel();
  stage_ = stage::waiting;
  owner_.on_dump_request(shared_from_this(), *form);
}

void peer_channel::answer_dump(std::string text) {
  loop_->post([self = shared_from_this(), text = std::move(text)] {
    if (self->stage_ != stage::waiting || self->closing_) return;
    self->closing_ = true;
    const auto bytes = std::as_bytes(std::span(text));
    std::size_t at = 0;
    do {
      const std::size_t n = std::min(bytes.size() - at, max_frame_body);
      const auto part = bytes.subspan(at, n);
      at += n;
      self->connection_->send(frame{frame_kind::dump_part,
                                    static_cast<std::uint8_t>(at == bytes.size() ? 1 : 0),
                                    std::vector(part.begin(), part.end()),
                                    {}});
    } while (at != bytes.size());
    self->connection_->close_when_sent();
  });
}

void peer_channel::on_invitation(const frame& f) {
  if (f.kind != frame_kind::invitation) return wrong("it did not begin with who it is");
  const decoded<context_id> id = greets_->hear(f);
  if (!id.value) return wrong(id.wrong);
  if (!may_have_id(*id.value)) return wrong(as_this_context);
  if (whom_ && *whom_ != *id.value) {
    met_another_ = true;
    return wrong("another context than the one that is looked for answers there");
  }
  greeted_ = true;
  frame private_data;
  try {
    private_data = greets_->greet(std::move(says_));
  } catch (const error& e) {
    return wrong(e.what());
  }
  connection_->send(std::move(private_data));
}

/// This context may be at both ends if the kernel reports this process. Any other process that
/// presents this context's id forwards what this context said on another connection.
bool peer_channel::may_have_id(const context_id& id) const noexcept {
  return id != owner_.key().id() || kernel_view().pid == ::getpid();
}

void peer_channel::know(identity who) {
  who.pid = peer_.pid;
  peer_ = shown(std::move(who));
}

/// A certificate lets a service in, and into no job: nothing is said of the own one, whose id would
/// be as good as a rank in it, and nothing believed of the other side's.
identity peer_channel::shown(identity who) const {
  if (!certificate_) return who;
  who.job = {};
  who.rank = no_peer;
  return who;
}

void peer_channel::on_answer(const frame& f) {
  if (f.kind == frame_kind::refusal) {
    connection_->close();
    const bool no_lane = f.detail == static_cast<std::uint8_t>(refusal_kind::no_such_lane);
    return end_asking(no_lane ? errc::invalid_argument : errc::refused, decode_refusal(f));
  }
  if (f.kind != frame_kind::welcome) return wrong("it answered with something else than yes or no");
  decoded<identity> who = greets_->judge(f);
  if (!who.value) return wrong(who.wrong);
  know(std::move(*who.value));
  connection_->let_descriptors_in();
  secret_ = greets_->secret();
  greets_.reset();
  become_live();
  answer(shared_from_this(), {});
}

void peer_channel::on_no_room() {
  if (stage_ == stage::live && !closing_) connection_->send(bye(bye_kind::no_descriptors));
}

void peer_channel::on_ended(connection::ending why) {
  const auto end_with = [this](errc kind, const std::string& what) { end({kind, what}, what); };
  switch (why) {
    case connection::ending::closed:
      return end({errc::closed, has_left}, fault_);
    case connection::ending::broken:
      return end_with(errc::protocol_error,
                      "it sent bytes that are no frame, or more than a frame may hold");
    case connection::ending::overdue:
      return end_with(errc::protocol_error,
                      fmt::format("it does not read what it is sent: more than {} MiB wait for it",
                                  connection::most_owed >> 20));
    case connection::ending::no_room:
      return end_with(errc::peer_lost,
                      fmt::format("too few file descriptors are free here for those it sent; {}",
                                  runtime::errno_hint(EMFILE)));
    case connection::ending::failed:
      return end_with(errc::peer_lost,
                      "this side failed at a wire-up message of the peer or for it");
    case connection::ending::hung_up:
      if (stage_ == stage::asking)
        return end_asking(why_ == purpose::connect ? errc::peer_lost : errc::refused,
                          fmt::format("{} hung up at {} before it answered", peer_name(), where_));
      if (closing_) return end({errc::closed, has_left});
      return end({errc::peer_lost, has_broken});
  }
}

void peer_channel::wrong(const std::string& what) {
  connection_->close();
  end({errc::protocol_error, what}, what);
}

void peer_channel::answer(channel_ptr live, const failure& why) {
  if (const auto done = std::exchange(done_, nullptr)) done(std::move(live), why);
}

std::string peer_channel::no_channel(const std::string& why) const {
  return fmt::format("no channel to {} ({}): {}", peer_name(), where_, why);
}

/// Only the requester that waits for the answer is told.
void peer_channel::end_asking(errc kind, const std::string& why) {
  const std::shared_ptr<peer_channel> self = shared_from_this();
  release({});
  answer(nullptr, {kind, why});
}

void peer_channel::end(const proto::ended& how, const std::string& notice) {
  if (stage_ == stage::ended) return;
  // Only an answer that makes no sense, or a fault on this side, ends it in that stage here.
  if (stage_ == stage::asking) return end_asking(errc::unreachable, no_channel(how.detail));
  const std::shared_ptr<peer_channel> self = shared_from_this();
  const bool was_live = stage_ == stage::live;
  how_ = how;
  release(notice);
  if (was_live) retry_on_bad_alloc([&] { events_->on_ended(self, how_); });
}

/// Removes the channel from the owner's books before the answer is given: the answer may be the
/// last event that a requester waits for.
void peer_channel::release(const std::string& notice) {
  const stage was = std::exchange(stage_, stage::ended);
  has_ended_.store(true, std::memory_order_release);
  deadline_timer_.cancel();
  owner_.release(shared_from_this(), was, notice);
}

}  // namespace weft::wireup
