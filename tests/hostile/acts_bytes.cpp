// SPDX-License-Identifier: Apache-2.0
// Below the frames: bytes on the attacker's own sockets, and in its own memory that the victim
// reads.
#include <sys/socket.h>

#include <atomic>
#include <cstring>

#include "acts.hpp"
#include "frames.hpp"
#include "transports/shm/wire.hpp"

namespace hostile {

namespace {

/// All connected sockets of this process.
std::vector<int> connected_sockets() {
  constexpr int most = 256;
  std::vector<int> all;
  for (int fd = 3; fd != most; ++fd) {
    sockaddr_storage there{};
    socklen_t size = sizeof there;
    if (::getpeername(fd, reinterpret_cast<sockaddr*>(&there), &size) == 0) all.push_back(fd);
  }
  return all;
}

bool is_stream(int fd) {
  int type = 0;
  socklen_t size = sizeof type;
  return ::getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) == 0 && type == SOCK_STREAM;
}

}  // namespace

/// Whole frames, halves of frames, and bytes that are no frames.
void write_bytes(scene& s, dice& d) {
  const std::vector<int> all = connected_sockets();
  if (all.empty()) return;
  const int fd = d.one_of(all);
  std::vector<std::byte> bytes(d.percent(70) ? d.between(1, 100) : d.between(1, 70'000));
  for (std::byte& b : bytes) b = static_cast<std::byte>(d.percent(60) ? 0 : d.throw_one());
  draft f = extended(static_cast<frame_kind>(d.below(24)), any_word(d), any_word(d), any_tag_of(d),
                     any_size(d, 100'000));
  if (d.percent(70) && bytes.size() > sizeof f.h + 16) {
    std::memcpy(bytes.data(), &f.h, sizeof f.h);
    std::memcpy(bytes.data() + sizeof f.h, &f.x, 16);
  }
  s.say("  {} bytes into {} socket {}", bytes.size(), is_stream(fd) ? "stream" : "packet", fd);
  ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/// While the victim reads the ring: headers that change, sequences that are not due, counters that
/// jump.
void scribble_in_ring(scene& s, dice& d) {
  using namespace weft::transports::shm;
  guise* const g = s.any_guise(d);
  if (!g) return;
  for (const auto& t : g->ties) {
    if (!t->memory.get()) continue;
    auto* const r = static_cast<ring*>(t->memory.get());
    for (std::uint64_t left = d.between(1, 40); left != 0; --left) {
      slot& at = r->slots[d.percent(70) ? d.below(16) : d.below(slot_count)];
      switch (d.below(7)) {
        case 0:
          at.header.size = static_cast<std::uint32_t>(any_word(d));
          break;
        case 1:
          at.header.kind = static_cast<std::uint8_t>(d.below(26));
          break;
        case 2:
          at.header.flags = static_cast<std::uint8_t>(any_word(d));
          break;
        case 3: {
          const std::uint64_t word = any_word(d);
          std::memcpy(at.body + d.below(inline_bytes - sizeof word), &word, sizeof word);
          break;
        }
        case 4:
          at.sequence.store(static_cast<std::uint32_t>(d.below(4)), std::memory_order_release);
          break;
        case 5:
          r->room_wanted = static_cast<std::uint32_t>(d.below(2));
          break;
        default:
          (d.percent(50) ? r->slots_read : r->bulk_read) = any_word(d);
      }
    }
    s.say("  scribbled in the ring");
  }
}

void shut_socket(scene& s, dice& d) {
  const std::vector<int> all = connected_sockets();
  if (all.empty()) return;
  const int fd = d.one_of(all);
  s.say("  socket {} is shut", fd);
  ::shutdown(fd, static_cast<int>(d.below(3)));
}

}  // namespace hostile
