// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/ladder/connection.hpp"

#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>

#include "transports/verbs/regions.hpp"

namespace weft::transports::verbs::ladder {

namespace {

constexpr std::uint32_t number_mask = (1u << 24) - 1;
// Bytes of a word and the values in front of it, while they leave.
constexpr std::size_t slot = sizeof(invitation);

constexpr std::size_t round_up(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }

std::size_t page() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::uint32_t random_psn() {
  std::uint32_t n = 0;
  if (::getrandom(&n, sizeof n, 0) != sizeof n)
    throw error(errc::system, fmt::format("getrandom failed: {}", std::strerror(errno)));
  return n & number_mask;
}

/// The device writes `value` first and `inverse` last; this reads them in the opposite order.
bool read(word& from, std::uint64_t& value) noexcept {
  const std::uint64_t inverse = std::atomic_ref(from.inverse).load(std::memory_order_acquire);
  value = std::atomic_ref(from.value).load(std::memory_order_acquire);
  return inverse == ~value;
}

}  // namespace

connection::block::block(device& d, std::size_t size, int access)
    : memory_(static_cast<std::byte*>(std::aligned_alloc(page(), round_up(size, page())))) {
  if (!memory_) throw std::bad_alloc();
  std::memset(memory_.get(), 0, round_up(size, page()));
  known_ = d.enroll({memory_.get(), round_up(size, page())}, 0, access);
}

connection::connection(device& d, const settings& s)
    : device_(d),
      timeout_(s.timeout),
      words_at_(round_up(s.ring, alignof(words))),
      inbox_(d, words_at_ + sizeof(words), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
      outbox_(d, words_at_ + depth * slot, 0),
      words_(std::construct_at(reinterpret_cast<words*>(inbox_.at(words_at_)))),
      on_(d.make_queue_pair()) {
  const place& here = d.here();
  card_.at = {magic,
              version,
              here.lid,
              on_->number(),
              random_psn(),
              here.mtu,
              static_cast<std::uint8_t>(here.ethernet ? 1 : 0),
              0,
              d.can().reads_at_once,
              0,
              here.gid,
              0,
              0};
  card_.key = inbox_.known().remote_key();
  card_.ring = static_cast<std::uint32_t>(s.ring);
  card_.chunk = static_cast<std::uint32_t>(s.chunk);
  card_.step = static_cast<std::uint32_t>(s.step);
}

void connection::meet(std::span<const std::byte> peer) {
  check();
  ladder::card c{};
  if (peer.size() != sizeof c) lie("its card is not as long as one");
  std::memcpy(&c, peer.data(), sizeof c);
  if (c.at.magic != magic || c.at.version != version)
    lie("its card is of something else, or of another version of weft");
  if (c.ring != card_.ring || c.chunk != card_.chunk || c.step != card_.step)
    fail(errc::invalid_argument,
         fmt::format("the two ends of a pipe differ: rung {}, ring {}, chunk {} here, rung {}, "
                     "ring {}, chunk {} there; they must choose the same",
                     card_.step, card_.ring, card_.chunk, c.step, c.ring, c.chunk));
  if (c.at.ethernet != card_.at.ethernet || c.at.mtu < IBV_MTU_256 || c.at.mtu > IBV_MTU_4096 ||
      c.at.queue_pair > number_mask || c.at.first_psn > number_mask)
    lie("its card names no queue pair that could be reached");
  if (static_cast<rung>(c.step) == rung::read &&
      (c.at.reads_at_once == 0 || card_.at.reads_at_once == 0))
    fail(errc::unsupported, "a device of the two cannot be read from; rung `written` needs none");
  if (const std::string why = on_->connect(c.at, card_.at.first_psn, timeout_); !why.empty())
    fail(errc::unreachable, why);
  peer_key_ = c.key;
}

std::uint32_t connection::places() {
  if (posted_ - done_ >= depth / 2) look();
  return depth - (posted_ - done_);
}

std::uint32_t connection::post(ibv_send_wr& work, bool say) {
  check();
  say = say || silent_ + 1 >= unsaid;
  if (say) work.send_flags |= IBV_SEND_SIGNALED;
  work.wr_id = posted_;
  if (const int code = on_->post(work); code != 0)
    fail(errc::peer_lost, fmt::format("the device takes no work: {}", std::strerror(code)));
  silent_ = say ? 0 : silent_ + 1;
  return posted_++;
}

void connection::write(std::size_t at, std::size_t size, std::uint64_t to) {
  ibv_sge from{at, static_cast<std::uint32_t>(size), outbox_.known().local_key()};
  ibv_send_wr work{};
  work.sg_list = &from;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_WRITE;
  work.wr.rdma = {to, peer_key_};
  if (size <= on_->inline_bytes()) {
    from.addr = reinterpret_cast<std::uintptr_t>(outbox_.at(at));
    work.send_flags = IBV_SEND_INLINE;
  }
  post(work, false);
}

std::uint64_t connection::address_of(word words::*which) const noexcept {
  return words_at_ + static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&own(which)) -
                                                reinterpret_cast<const std::byte*>(words_));
}

/// \param address of the first byte, at the peer \param before the values in front of the word
void connection::tell(std::uint64_t address, std::span<const std::uint64_t> before,
                      std::uint64_t value) {
  // A slot for each place: a word must not change while it leaves.
  const std::size_t at = words_at_ + posted_ % depth * slot;
  std::array<std::uint64_t, slot / sizeof value> all{};
  std::copy(before.begin(), before.end(), all.begin());
  all[before.size()] = value;
  all[before.size() + 1] = ~value;
  const std::size_t size = (before.size() + 2) * sizeof value;
  std::memcpy(outbox_.at(at), all.data(), size);
  write(at, size, address);
}

void connection::invite(std::uint64_t place, std::uint64_t size, std::uint64_t number) {
  const std::uint64_t before[] = {place, size};
  tell(words_at_ + offsetof(words, invited), before, number);
}

std::uint32_t connection::move(ibv_wr_opcode what, ibv_sge here, std::uint64_t there) {
  const named_place at = named_place::of(remote_address::unpack(there));
  ibv_send_wr work{};
  work.sg_list = &here;
  work.num_sge = 1;
  work.opcode = what;
  work.wr.rdma = {at.address, at.key};
  return post(work, true);
}

std::uint64_t connection::hear(word words::*which, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  if (!read(own(which), value)) return least;
  if (value < least || value > most)
    lie(fmt::format("it counts {}, which cannot be below {} or above {}", value, least, most));
  return value;
}

bool connection::hear_invitation(std::uint64_t number, invitation& into) {
  std::uint64_t value = 0;
  if (!read(words_->invited.number, value) || value != number) return false;
  std::memcpy(&into, &words_->invited, sizeof into);
  return true;
}

void connection::look() {
  check();
  std::array<ibv_wc, 16> ended{};
  for (std::size_t n = ended.size(); n == ended.size();) {
    n = device_.poll(ended);
    for (std::size_t i = 0; i != n; ++i) {
      if (ended[i].status != IBV_WC_SUCCESS)
        fail(errc::peer_lost,
             fmt::format("the connection has broken: {}", ibv_wc_status_str(ended[i].status)));
      done_ = static_cast<std::uint32_t>(ended[i].wr_id) + 1;
    }
  }
}

void connection::fail(errc why, const std::string& what) {
  if (on_) on_->fail();
  trouble_ = std::make_unique<error>(why, "RDMA pipe: " + what);
  throw *trouble_;
}

void connection::lie(const std::string& what) {
  fail(errc::protocol_error,
       "the peer breaks the rules: " + what + "; it may be damaged, or not be weft");
}

void connection::shut() noexcept {
  on_.reset();
  if (!trouble_) trouble_ = std::make_unique<error>(errc::closed, "RDMA pipe: it was closed");
}

}  // namespace weft::transports::verbs::ladder
