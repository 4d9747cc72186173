// SPDX-License-Identifier: Apache-2.0
// The control plane: connections, offers, and the descriptors in them.
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "acts.hpp"
#include "frames.hpp"
#include "services.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace hostile {

using weft::unique_fd;
namespace wireup = weft::wireup;

namespace {

unique_fd memory_file(dice& d) {
  const unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
  unique_fd file(::memfd_create("hostile", flags));
  const std::uint64_t sizes[] = {0, 4096, 147'648, 131'072, std::uint64_t{1} << 40, 4096 * 100};
  if (::ftruncate(file.get(), static_cast<off_t>(d.one_of(sizes))) != 0) return file;
  if (d.percent(50)) ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
  if (d.percent(20)) ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE);
  return file;
}

/// A TCP socket with unread bytes at the other end: its last close waits.
unique_fd lingering_socket(scene& s) {
  unique_fd listening(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  unique_fd near(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  if (::bind(listening.get(), reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::listen(listening.get(), 1) != 0 ||
      ::getsockname(listening.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0)
    return {};
  ::connect(near.get(), reinterpret_cast<sockaddr*>(&at), size);
  const std::vector<std::byte> bytes(1 << 20);
  while (::send(near.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL) > 0) continue;
  const linger wait{1, 1};
  ::setsockopt(near.get(), SOL_SOCKET, SO_LINGER, &wait, sizeof wait);
  s.sockets.push_back(std::move(listening));  // no thread reads it until the seed ends
  return near;
}

unique_fd wrong_descriptor(scene& s, dice& d) {
  int two[2];
  switch (d.below(9)) {
    case 0:
      if (::pipe2(two, O_CLOEXEC) != 0) return {};
      ::close(two[1]);
      return unique_fd(two[0]);
    case 1:
      if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, two) != 0) return {};
      ::close(two[1]);
      return unique_fd(two[0]);
    case 2:
      return d.percent(5) ? lingering_socket(s)
                          : unique_fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    case 3:
      return unique_fd(::open("/dev/zero", O_RDWR | O_CLOEXEC));
    case 4:
      return unique_fd(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    case 5:
      return unique_fd(::open("/", O_RDONLY | O_CLOEXEC));
    case 6:
      return unique_fd(::eventfd(0, EFD_CLOEXEC));
    default:
      return memory_file(d);
  }
}

wireup_message_head some_head(guise& g, dice& d) {
  const tie& t = *d.one_of(g.ties);
  wireup_message_head head{t.place, t.number, t.further, static_cast<std::uint32_t>(any_word(d))};
  if (d.percent(15)) head.place = static_cast<std::uint16_t>(any_word(d));
  if (d.percent(15)) head.number = static_cast<std::uint8_t>(any_word(d));
  if (d.percent(10)) head.further = static_cast<std::uint8_t>(any_word(d));
  return head;
}

wireup_message some_parcel(scene& s, dice& d, std::size_t most_bytes) {
  wireup_message p;
  p.bytes = some_bytes(d, most_bytes);
  for (std::uint64_t fds = d.percent(50) ? 0 : d.between(1, wireup_message::max_fds); fds != 0;
       --fds)
    if (unique_fd fd = wrong_descriptor(s, d)) p.fds.push_back(std::move(fd));
  return p;
}

}  // namespace

/// Connects as another context, or opens another channel of the same one.
void come_again(scene& s, dice& d) {
  guise* const known = s.any_guise(d);
  if (known && d.percent(40)) {
    s.say("  the same one again");
    if (d.percent(50))
      known->connect(s.victim.locator);
    else
      known->request_connection(
          std::string((d.percent(50) ? s.on().listening : s.on().tcp_listener).get()),
          d.one_of(service_names));
    return;
  }
  guise* const g = s.enter(d, d.one_of(service_names));
  if (!g) return;
  for (const auto& t : g->ties)
    if (d.percent(60)) g->offer(*t);
  s.look();
}

/// Offers transports that were not offered yet: two at the same time, then.
void offer_again(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  tie& t = *d.one_of(g->ties);
  if (t.link && d.percent(30)) g->drop(t);
  g->offer(t);
  s.look();
}

/// A correct offer, except for its descriptors.
void offer_wrong_descriptors(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  const tie& t = *d.one_of(g->ties);
  wireup_message p;
  p.bytes.resize(d.percent(70) ? t.transport.traits().name == "qdma" ? 16 : 24 : d.below(100));
  for (std::uint64_t fds = d.between(0, wireup_message::max_fds); fds != 0; --fds)
    if (unique_fd fd = wrong_descriptor(s, d)) p.fds.push_back(std::move(fd));
  g->send_parcel(d.percent(80) ? wireup_message_kind::offer : wireup_message_kind::answer,
                 {t.place, t.number, t.further, 1000}, std::move(p));
}

void offer_lies(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  wireup_message p;
  const bool again = !g->seen_offers.empty() && d.percent(40);
  if (again) p.bytes = d.one_of(g->seen_offers).bytes;  // the victim's own offer
  if (!again) p = some_parcel(s, d, 200);
  if (!p.bytes.empty() && d.percent(60))
    p.bytes[d.below(p.bytes.size())] ^= static_cast<std::byte>(1 << d.below(8));
  g->send_parcel(wireup_message_kind::offer, some_head(*g, d), std::move(p));
}

void answer_no_offer(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  g->send_parcel(d.percent(60) ? wireup_message_kind::answer : wireup_message_kind::refusal,
                 some_head(*g, d), some_parcel(s, d, 100));
}

/// Invalid regions, the same region again and again, and a text at the wrong moment.
void send_notes(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  for (std::uint64_t left = d.percent(90) ? d.between(1, 8) : 200; left != 0; --left) {
    const tie& t = *d.one_of(g->ties);
    wireup_message p;
    if (d.percent(80)) {
      const auto number = static_cast<std::uint16_t>(d.percent(80) ? left : d.throw_one());
      p.bytes.resize(sizeof number);
      std::memcpy(p.bytes.data(), &number, sizeof number);
      p.fds.push_back(d.percent(70) ? memory_file(d) : wrong_descriptor(s, d));
      if (!p.fds.front()) p.fds.clear();
    } else {
      p = some_parcel(s, d, 2000);
    }
    g->send_parcel(wireup_message_kind::note, {t.place, t.number, t.further, 0}, std::move(p));
  }
}

void send_any_parcel(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  g->send_parcel(static_cast<wireup_message_kind>(d.below(7)), some_head(*g, d),
                 some_parcel(s, d, 16'000));
}

/// The victim answers each offer, and the attacker does not read the answers.
void storm_of_offers(scene& s, dice& d) {
  guise* const g = s.any_guise(d);
  if (!g) return;
  const tie& t = *d.one_of(g->ties);
  const std::uint64_t many = d.percent(3) ? 20'000 : d.between(50, 500);
  for (std::uint64_t left = many; left != 0; --left) {
    wireup_message p;
    p.bytes.resize(24);
    g->send_parcel(wireup_message_kind::offer, {t.place, t.number, t.further, 0}, std::move(p));
  }
}

void request_and_leave(scene& s, dice& d) {
  if (s.guises.empty()) return;
  const auto& g = d.one_of(s.guises);
  std::string private_data = d.one_of(service_names);
  if (d.percent(30)) private_data.assign(d.below(1100), 'x');
  g->request_and_go_on(std::string((d.percent(70) ? s.on().listening : s.on().tcp_listener).get()),
                       private_data);
  if (d.percent(30)) g->leave();
}

/// Joins the job, or claims to.
void visit_coordinator(scene& s, dice& d) {
  if (s.guises.empty() || s.victim.locator.empty()) return;
  const auto& g = d.one_of(s.guises);
  const std::string private_data = d.percent(60)
                                       ? "weft roster 3 new"
                                       : (d.percent(50) ? "weft roster 3 for " : "weft roster 3 ") +
                                             std::to_string(any_word(d) & 0xffff);
  const std::size_t before = g->channels.size();
  if (!g->connect_to_coordinator(s.victim.locator, private_data) || g->channels.size() == before)
    return;
  const wireup::channel_ptr line = g->channels.back();
  for (std::uint64_t left = d.between(1, 5); left != 0; --left) {
    wireup_message p;
    p.kind = static_cast<std::uint8_t>(d.percent(85) ? d.between(4, 6) : d.below(9));
    if (p.kind == 4 && d.percent(80)) {
      const std::string locator = d.percent(50) ? g->self().locator : wireup::random_socket_name();
      const auto size = static_cast<std::uint16_t>(locator.size());
      p.bytes.resize(sizeof size + size);
      std::memcpy(p.bytes.data(), &size, sizeof size);
      std::memcpy(p.bytes.data() + sizeof size, locator.data(), size);
    } else if (p.kind == 5) {
      p.bytes.resize(4);
      p.bytes[0] = static_cast<std::byte>(d.below(4));
    } else if (p.kind != 6) {
      p.bytes = some_bytes(d, 100);
    }
    line->send(std::move(p));
  }
  if (d.percent(50)) line->close();
}

}  // namespace hostile
