// SPDX-License-Identifier: Apache-2.0
#include "guise.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "connections/link_message.hpp"
#include "transports/qdma/factory.hpp"
#include "transports/shm/factory.hpp"
#include "transports/shm/wire.hpp"
#include "transports/tcp/address.hpp"
#include "transports/tcp/factory.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace hostile {

using namespace weft;
using runtime::engine;

namespace {

constexpr std::int64_t longest_wait = 2'000'000'000;  // for an answer that the victim owes
constexpr unsigned tries_until_full = 200;
constexpr std::size_t most_keys = 8;
constexpr int sockets_looked_at = 256;

const std::vector<std::byte>& junk() {
  static const std::vector<std::byte> bytes = [] {
    std::vector<std::byte> b(300'000);
    dice d(1);
    for (std::byte& one : b) one = static_cast<std::byte>(d.throw_one());
    return b;
  }();
  return bytes;
}

std::unique_ptr<transports::transport> make_part(const std::string& name, engine& turns,
                                                 const weft::options& common) {
  if (name == "shm") return transports::shm::make(turns.own_doorbell(), "auto");
  if (name == "qdma") return transports::qdma::make(turns, copy_completion::direct);
  transports::tcp::settings tcp{{"lo"}, std::chrono::seconds(5), 1};
  tcp.encryption = common.tcp_tls;
  return transports::tcp::make(turns, std::move(tcp));
}

std::vector<std::string> parts_of(const std::string& name) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= name.size();) {
    parts.push_back(name.substr(from, name.find('+', from) - from));
    from += parts.back().size() + 1;
  }
  return parts;
}

wireup_message pack(wireup_message_kind kind, wireup_message_head head, wireup_message body) {
  const auto* const begin = reinterpret_cast<const std::byte*>(&head);
  body.kind = static_cast<std::uint8_t>(kind);
  body.bytes.insert(body.bytes.begin(), begin, begin + sizeof head);
  return body;
}

}  // namespace

guise::guise(const settings& s, dice d, teller say, bool listens_to_tcp)
    : turns(progress_mode::polling, {}, "epoll"), settings_(s), dice_(d), say_(std::move(say)) {
  const std::vector<std::string> names = transports_named(s.transport);
  const auto told = [this](const heard& h) {
    if (settings_.trace)
      say_("  heard " + to_text(h.header, (h.header.flags & transports::has_extension) != 0
                                              ? &h.extension
                                              : nullptr));
    remote_region key;
    if (h.header.kind != static_cast<std::uint8_t>(frame_kind::eager) ||
        h.header.size != sizeof key || keys.size() == most_keys)
      return;
    std::memcpy(&key, h.beginning.data(), sizeof key);
    keys.push_back(key);
  };
  for (std::size_t place = 0; place != names.size(); ++place) {
    if (names[place] == "self") continue;
    const std::vector<std::string> parts = parts_of(names[place]);
    for (std::size_t i = 0; i != parts.size(); ++i) {
      transports_.push_back(make_part(parts[i], turns, common_options(s)));
      turns.add(*transports_.back()->poll_hook());
      ties.push_back(std::make_unique<tie>(
          connections::place_in(names, place), static_cast<std::uint8_t>(i),
          static_cast<std::uint8_t>(parts.size() - 1), *transports_.back(), memory, told));
    }
  }
  wireup::identity self;
  self.id = wireup::random_id();
  wireup::tcp_settings tcp;
  tcp.key = wireup::job_key::from_text(common_options(s).job_key, "the key of the tests");
  tcp.interfaces = {"lo"};
  tcp.listens = listens_to_tcp;
  tcp.encryption = std::make_shared<wireup::encryption>(common_options(s).tcp_tls);
  manager_ = std::make_unique<wireup::connection_manager>(self, *box_, std::move(tcp));
  manager_->start_accepting();
}

guise::~guise() {
  leave();
  drop_all();
  channels.clear();
  const engine::holder hold(turns);
  ties.clear();
}

// --- the control plane ---------------------------------------------------------------------------

wireup::channel_ready guise::answer_to(std::shared_ptr<mailbox> box) {
  return [box = std::move(box)](wireup::channel_ptr c, const wireup::failure&) {
    const std::lock_guard lock(box->mutex);
    box->came.push_back(std::move(c));
  };
}

void guise::leave() {
  left_ = true;
  manager_->end();
}

template <class Start>
bool guise::wait(Start start) {
  if (left_) return false;
  const auto box = std::make_shared<mailbox>();
  start(answer_to(box));
  const std::int64_t until = now() + longest_wait;
  while (now() < until) {
    {
      const std::lock_guard lock(box->mutex);
      if (!box->came.empty()) {
        if (!box->came.front()) return false;
        channels.push_back(box->came.front());
        return true;
      }
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return false;
}

bool guise::request_connection(const std::string& address, const std::string& private_data) {
  return wait(
      [&](auto done) { manager_->request_connection(address, private_data, std::move(done)); });
}
bool guise::connect(const std::string& locator) {
  return wait([&](auto done) { manager_->connect(locator, std::move(done)); });
}
bool guise::connect_to_coordinator(const std::string& locator, const std::string& private_data) {
  return wait(
      [&](auto done) { manager_->connect_to_coordinator(locator, private_data, std::move(done)); });
}
void guise::request_and_go_on(const std::string& address, const std::string& private_data) {
  manager_->request_connection(address, private_data, answer_to(std::make_shared<mailbox>()));
}

void guise::send_parcel(wireup_message_kind kind, wireup_message_head head, wireup_message body) {
  if (channels.empty()) return;
  if (settings_.trace)
    say_(fmt::format("  message {} place {} number {} of {} bytes, {} descriptors",
                     static_cast<int>(kind), head.place, head.number, body.bytes.size(),
                     body.fds.size()));
  const auto& by = dice_.one_of(channels);
  if (!by->carries_descriptors()) body.fds.clear();
  by->send(pack(kind, head, std::move(body)));
}

void guise::read(letter l) {
  if (l.gone) {
    std::erase(channels, l.from);
    return say_("  a channel has ended");
  }
  wireup_message_head head;
  if (l.body.bytes.size() < sizeof head) return;
  std::memcpy(&head, l.body.bytes.data(), sizeof head);
  l.body.bytes.erase(l.body.bytes.begin(), l.body.bytes.begin() + sizeof head);
  switch (static_cast<wireup_message_kind>(l.body.kind)) {
    case wireup_message_kind::offer:
      return on_offer(head, std::move(l.body));
    case wireup_message_kind::answer:
      return on_answer(head, std::move(l.body), false);
    case wireup_message_kind::refusal:
      return on_answer(head, std::move(l.body), true);
    case wireup_message_kind::note:
      break;
  }
  if (tie* const t = tie_of(head)) {
    const engine::holder hold(turns);
    t->transport.note(t->in, std::move(l.body));
  }
}

tie* guise::tie_of(const wireup_message_head& head) {
  const auto found = std::find_if(ties.begin(), ties.end(), [&](const auto& t) {
    return t->place == head.place && t->number == head.number;
  });
  return found == ties.end() ? nullptr : found->get();
}

void guise::on_offer(wireup_message_head head, wireup_message body) {
  say_(fmt::format("  heard an offer, place {} number {}", head.place, head.number));
  wireup_message copy;
  copy.bytes = body.bytes;
  if (seen_offers.size() < 8) seen_offers.push_back(std::move(copy));
  tie* const t = tie_of(head);
  if (!t || (!only && dice_.percent(5))) return;
  wireup_message answer;
  std::string refusal = "not today";
  if (only ? t == only : !dice_.percent(refuses_percent)) {
    const engine::holder hold(turns);
    refusal = t->transport.accept(t->in, counterpart_of(*t), std::move(body), answer);
  }
  t->accepted = t->accepted || refusal.empty();
  head.credit = static_cast<std::uint32_t>(dice_.percent(80) ? 1000 : dice_.throw_one());
  if (!refusal.empty())
    for (const char c : refusal) answer.bytes.push_back(static_cast<std::byte>(c));
  send_parcel(refusal.empty() ? wireup_message_kind::answer : wireup_message_kind::refusal, head,
              std::move(answer));
}

void guise::on_answer(wireup_message_head head, wireup_message body, bool refused) {
  say_(fmt::format("  heard {} of place {} number {}, credit {}",
                   refused ? "a refusal" : "an answer", head.place, head.number, head.credit));
  tie* const t = tie_of(head);
  if (!t || !t->link || t->open) return;
  const engine::holder hold(turns);
  t->open = !refused && t->link->opened(std::move(body)).empty();
  if (!t->open) t->link.reset();
}

// --- the data plane ------------------------------------------------------------------------------

transports::counterpart guise::counterpart_of(const tie& t) {
  const pid_t pid = channels.empty() ? 0 : channels.front()->peer().pid;
  const wireup_message_head head{t.place, t.number, t.further, 0};
  const auto channel = channels.empty() ? nullptr : channels.front();
  return {pid,
          [this, head](wireup_message p) {
            send_parcel(wireup_message_kind::note, head, std::move(p));
          },
          0,
          {},
          [channel](std::span<const std::byte> bytes) {
            return channel ? channel->sign(bytes) : transports::signature{};
          }};
}

void guise::offer(tie& t) {
  if (t.link || channels.empty()) return;
  wireup_message body;
  try {
    const engine::holder hold(turns);
    t.link = t.transport.open(t.in, counterpart_of(t), body);
    if (t.transport.traits().name == "shm" && !body.fds.empty())
      t.memory = runtime::map_own(body.fds.front(), sizeof(transports::shm::ring));
  } catch (const error& e) {
    return say_(std::string("  cannot offer: ") + e.what());
  }
  send_parcel(wireup_message_kind::offer, {t.place, t.number, t.further, 0}, std::move(body));
}

/// The socket of that link's connection; -1: there is none.
int guise::socket_of(const tie& t) const {
  // "tcp, 127.0.0.1:1 to 127.0.0.1:2, ..."
  const std::string said = t.transport.describe(t.in);
  for (int fd = 3; fd != sockets_looked_at; ++fd) {
    const auto here = transports::tcp::address::of_socket(fd, false);
    const auto there = here ? transports::tcp::address::of_socket(fd, true) : std::nullopt;
    if (there && said.starts_with(fmt::format("tcp, {} to {}, ", here->text(), there->text())))
      return fd;
  }
  return -1;
}

void guise::write(tie& t, std::span<const std::byte> bytes) {
  const int fd = socket_of(t);
  for (unsigned i = 0; i != tries_until_full && !bytes.empty() && fd >= 0; ++i) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0) bytes = bytes.subspan(static_cast<std::size_t>(n));
    if (n < 0 && errno == EAGAIN && !deaf) turns.poll_once();
  }
}

void guise::send_part(tie& t, const frame_header& h, const frame_extension& x,
                      std::uint64_t bytes) {
  const std::size_t more = transports::extension_size(h);
  const std::size_t size = std::min<std::size_t>(h.size, junk().size());
  std::vector<std::byte> all(sizeof h + more + size);
  std::memcpy(all.data(), &h, sizeof h);
  std::memcpy(all.data() + sizeof h, &x, more);
  std::memcpy(all.data() + sizeof h + more, junk().data(), size);
  const std::size_t first = std::min<std::size_t>(bytes, all.size());
  say_(fmt::format("  the first {} bytes of {}", first, to_text(h, more != 0 ? &x : nullptr)));
  write(t, std::span(all).first(first));
  t.rest.assign(all.begin() + static_cast<std::ptrdiff_t>(first), all.end());
}

void guise::send_rest(tie& t) {
  if (t.rest.empty()) return;
  say_(fmt::format("  the rest of a frame, {} bytes", t.rest.size()));
  write(t, std::exchange(t.rest, {}));
}

/// Tries until there is room, or none is to be expected.
bool guise::post(tie& t, const frame_header& h, const frame_extension* x,
                 std::span<const std::byte> payload) {
  send_rest(t);
  for (unsigned i = 0; i != tries_until_full && t.link; ++i) {
    {
      const engine::holder hold(turns);
      const const_buffer all(payload);
      transports::gather pieces({&all, 1});
      if (const auto p = t.link->send(h, x, pieces); p != transports::post::busy)
        return p == transports::post::done;
    }
    if (deaf) return false;
    turns.poll_once();
  }
  return false;
}

bool guise::send(tie& t, frame_header h, const frame_extension& x,
                 std::span<const std::byte> given) {
  if (!t.link || !t.open) return false;
  h.size = std::min(h.size, t.link->traits().max_payload);
  const bool extended = (h.flags & transports::has_extension) != 0;
  if (settings_.trace)
    say_(fmt::format("  {} {}", t.link->traits().name, to_text(h, extended ? &x : nullptr)));
  const std::span<const std::byte> payload =
      (given.size() < h.size ? std::span<const std::byte>(junk()) : given).first(h.size);
  const bool bare = h.kind == static_cast<std::uint8_t>(frame_kind::ordered) ||
                    h.kind == static_cast<std::uint8_t>(frame_kind::data);
  if (t.further == 0 || bare || dice_.percent(5))
    return post(t, h, extended ? &x : nullptr, payload);
  // On a multi-rail link, frames travel inside other frames.
  const std::size_t more = transports::extension_size(h);
  std::vector<std::byte> packed(sizeof h + more);
  std::memcpy(packed.data(), &h, sizeof h);
  std::memcpy(packed.data() + sizeof h, &x, more);
  packed.insert(packed.end(), payload.begin(), payload.end());
  std::uint64_t& next = ties.front()->next_ordered;
  const frame_header around{next, static_cast<std::uint32_t>(packed.size()),
                            static_cast<std::uint8_t>(frame_kind::ordered), 0, 0};
  if (around.size > t.link->traits().max_payload) return false;
  if (!dice_.percent(3)) ++next;
  return post(t, around, nullptr, packed);
}

bool guise::look() {
  if (deaf) return false;
  bool any = turns.poll_once() != 0;
  std::deque<letter> letters;
  {
    const std::lock_guard lock(box_->mutex);
    letters.swap(box_->letters);
  }
  for (letter& l : letters) {
    any = true;
    read(std::move(l));
  }
  for (const auto& t : ties)
    if (t->in.broken && t->link) t->open = false;
  return any;
}

void guise::drop(tie& t) {
  const engine::holder hold(turns);
  t.open = false;
  if (t.accepted || t.link) t.transport.forget(t.in);
  t.link.reset();
}

void guise::drop_all() {
  for (const auto& t : ties) drop(*t);
}

}  // namespace hostile
