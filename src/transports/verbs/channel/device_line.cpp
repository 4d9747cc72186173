// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/channel/device_line.hpp"

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

namespace weft::transports::verbs::channel {

namespace {

constexpr std::uint32_t number_mask = (1u << 24) - 1;
// Bytes of a word and the values in front of it, while they leave.
constexpr std::size_t slot = sizeof(invitation);

std::size_t page() noexcept { return static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)); }

std::uint32_t random_psn() {
  std::uint32_t n = 0;
  if (::getrandom(&n, sizeof n, 0) != sizeof n)
    throw error(errc::system, fmt::format("getrandom failed: {}", std::strerror(errno)));
  return n & number_mask;
}

}  // namespace

device_line::block::block(device& d, std::size_t size, int access)
    : memory_(static_cast<std::byte*>(std::aligned_alloc(page(), round_up(size, page())))) {
  if (!memory_) throw std::bad_alloc();
  std::memset(memory_.get(), 0, round_up(size, page()));
  known_ = d.enroll({memory_.get(), round_up(size, page())}, 0, access);
}

device_line::device_line(device& d, const settings& s)
    : line(s),
      device_(d),
      timeout_(s.timeout),
      words_at_(transports::channel::words_behind(s.ring)),
      shown_(d, words_at_ + sizeof(words), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE),
      mirror_(d, words_at_ + depth * slot, 0),
      regions_(d),
      cache_(regions_, s.regions),
      on_(d.make_queue_pair()) {
  inbox_ = shown_.at(0);
  words_ = std::construct_at(reinterpret_cast<words*>(shown_.at(words_at_)));
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
  card_.key = shown_.known().remote_key();
  card_.chosen = shape_;
}

void device_line::meet(std::span<const std::byte> peer) {
  check_unmet();
  channel::card c{};
  if (peer.size() != sizeof c) lie("its card is not as long as one");
  std::memcpy(&c, peer.data(), sizeof c);
  if (c.at.magic != magic || c.at.version != version)
    lie("its card is of something else, or of another version of weft");
  compare(c.chosen);
  if (c.at.ethernet != card_.at.ethernet || c.at.mtu < IBV_MTU_256 || c.at.mtu > IBV_MTU_4096 ||
      c.at.queue_pair > number_mask || c.at.first_psn > number_mask)
    lie("its card names no queue pair that could be reached");
  if (static_cast<rung>(shape_.step) == rung::read &&
      (c.at.reads_at_once == 0 || card_.at.reads_at_once == 0))
    fail(errc::unsupported, "a device of the two cannot be read from; rung `written` needs none");
  if (const std::string why = on_->connect(c.at, card_.at.first_psn, timeout_); !why.empty())
    fail(errc::unreachable, why);
  peer_key_ = c.key;
  outbox_ = mirror_.at(0);
}

std::uint32_t device_line::places() {
  if (posted_ - done_ >= depth / 2) look();
  return depth - (posted_ - done_);
}

std::uint32_t device_line::post(ibv_send_wr& work, bool say) {
  check();
  say = say || silent_ + 1 >= unsaid;
  if (say) work.send_flags |= IBV_SEND_SIGNALED;
  work.wr_id = posted_;
  if (const int code = on_->post(work); code != 0)
    fail(errc::peer_lost, fmt::format("the device takes no work: {}", std::strerror(code)));
  silent_ = say ? 0 : silent_ + 1;
  return posted_++;
}

void device_line::write(std::size_t at, std::size_t size, std::uint64_t to) {
  ibv_sge from{at, static_cast<std::uint32_t>(size), mirror_.known().local_key()};
  ibv_send_wr work{};
  work.sg_list = &from;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_WRITE;
  work.wr.rdma = {to, peer_key_};
  if (size <= on_->inline_bytes()) {
    from.addr = reinterpret_cast<std::uintptr_t>(mirror_.at(at));
    work.send_flags = IBV_SEND_INLINE;
  }
  post(work, false);
}

std::uint64_t device_line::address_of(word words::*which) const noexcept {
  return words_at_ +
         static_cast<std::uint64_t>(reinterpret_cast<const std::byte*>(&(words_->*which)) -
                                    reinterpret_cast<const std::byte*>(words_));
}

/// \param address of the first byte, at the peer \param before the values in front of the word
void device_line::tell(std::uint64_t address, std::span<const std::uint64_t> before,
                       std::uint64_t value) {
  // A slot for each place: a word must not change while it leaves.
  const std::size_t at = words_at_ + posted_ % depth * slot;
  std::array<std::uint64_t, slot / sizeof value> all{};
  std::copy(before.begin(), before.end(), all.begin());
  all[before.size()] = value;
  all[before.size() + 1] = ~value;
  const std::size_t size = (before.size() + 2) * sizeof value;
  std::memcpy(mirror_.at(at), all.data(), size);
  write(at, size, address);
}

void device_line::invite(std::uint64_t place, std::uint64_t size, std::uint64_t number) {
  const std::uint64_t before[] = {place, size};
  tell(words_at_ + offsetof(words, invited), before, number);
}

bool device_line::lend(std::span<std::byte> memory, memory_access how, loan& into) {
  into.known = cache_.get(memory, how);
  if (!into.known) return false;
  into.place =
      named_place{registration_of(into.known).remote_key(), address_in(into.known, memory.data())}
          .packed()
          .packed();
  return true;
}

std::string device_line::refusal() const {
  return regions_.trouble().empty() ? "the settings leave no room to register memory in"
                                    : regions_.trouble();
}

std::uint32_t device_line::read(const loan& l, std::span<std::byte> here, std::uint64_t there) {
  return move(IBV_WR_RDMA_READ, l, here.data(), here.size(), there);
}

std::uint32_t device_line::write_to(const loan& l, std::span<const std::byte> here,
                                    std::uint64_t there) {
  return move(IBV_WR_RDMA_WRITE, l, here.data(), here.size(), there);
}

std::uint32_t device_line::move(ibv_wr_opcode what, const loan& l, const std::byte* here,
                                std::size_t size, std::uint64_t there) {
  const named_place at = named_place::of(remote_address::unpack(there));
  ibv_sge piece{address_in(l.known, here), static_cast<std::uint32_t>(size),
                registration_of(l.known).local_key()};
  ibv_send_wr work{};
  work.sg_list = &piece;
  work.num_sge = 1;
  work.opcode = what;
  work.wr.rdma = {at.address, at.key};
  return post(work, true);
}

void device_line::look() {
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

void device_line::break_off() noexcept {
  if (on_) on_->fail();
}

void device_line::shut() noexcept {
  on_.reset();
  note_closed();
}

}  // namespace weft::transports::verbs::channel
