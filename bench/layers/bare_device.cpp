// SPDX-License-Identifier: Apache-2.0
#include "layers/bare_device.hpp"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <cstring>
#include <new>
#include <stdexcept>

#include "support/spin.hpp"
#include "transports/verbs/hardware/finder.hpp"

namespace weft::bench {

namespace verbs = transports::verbs;

namespace {

constexpr std::size_t page = 4096, news = 32;
constexpr auto silence = std::chrono::seconds(10);

std::unique_ptr<verbs::device> opened_device() {
  std::string why;
  auto found = verbs::find({}, why);
  if (!found) throw std::runtime_error(why);
  return found;
}

}  // namespace

bare_device::bare_device(std::size_t longest)
    : device_(opened_device()),
      longest_((longest + page - 1) / page * page),
      memory_(static_cast<std::byte*>(std::aligned_alloc(page, 3 * longest_))) {
  if (!memory_) throw std::bad_alloc();
  std::memset(memory_.get(), 0, 3 * longest_);
  known_ =
      device_->enroll({memory_.get(), 3 * longest_}, 0,
                      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
  on_ = device_->make_queue_pair();
  const verbs::place& here = device_->here();
  card_.at.lid = here.lid;
  card_.at.queue_pair = on_->number();
  card_.at.mtu = here.mtu;
  card_.at.ethernet = here.ethernet ? 1 : 0;
  card_.at.reads_at_once = device_->can().reads_at_once;
  card_.at.gid = here.gid;
  card_.key = known_->remote_key();
  for (unsigned i = 0; i != receives; ++i) post_receive();
}

void bare_device::enroll_anew(std::size_t size) {
  device_->enroll(at(0, size), 0, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
}

void bare_device::copy(std::size_t size) {
  std::memcpy(at(2, size).data(), at(0, size).data(), size);
  // Nothing reads the copy.
  std::atomic_signal_fence(std::memory_order_acq_rel);
}

void bare_device::meet(std::span<const std::byte> card) {
  card_of_end there;
  if (card.size() != sizeof there) throw std::runtime_error("a card of another size");
  std::memcpy(&there, card.data(), sizeof there);
  if (const std::string why = on_->connect(there.at, 0, silence); !why.empty())
    throw std::runtime_error(why);
  peer_key_ = there.key;
}

void bare_device::post_receive() {
  ibv_sge into{2 * longest_, static_cast<std::uint32_t>(longest_), known_->local_key()};
  ibv_recv_wr one{0, nullptr, &into, 1};
  ibv_recv_wr* refused = nullptr;
  if (device_->post_receives(one, &refused) != 0)
    throw std::runtime_error("the device takes no receives");
}

void bare_device::post(ibv_wr_opcode what, std::size_t size) {
  const bool reads = what == IBV_WR_RDMA_READ;
  ibv_sge here{reads ? longest_ : 0, static_cast<std::uint32_t>(size), known_->local_key()};
  ibv_send_wr work{};
  work.wr_id = 1;  // a receive has 0
  work.sg_list = &here;
  work.num_sge = 1;
  work.opcode = what;
  work.send_flags = IBV_SEND_SIGNALED;
  work.wr.rdma = {reads ? 0 : longest_, peer_key_};
  if (!reads && size <= on_->inline_bytes()) {
    here.addr = reinterpret_cast<std::uintptr_t>(memory_.get());
    work.send_flags |= IBV_SEND_INLINE;
  }
  if (const int code = on_->post(work); code != 0)
    throw std::runtime_error(fmt::format("the device takes no work: {}", std::strerror(code)));
  ++posted_;
}

void bare_device::post(device_work how, std::size_t size) {
  switch (how) {
    case device_work::read:
      return post(IBV_WR_RDMA_READ, size);
    case device_work::write:
      return post(IBV_WR_RDMA_WRITE, size);
    case device_work::send:
      return post(IBV_WR_SEND_WITH_IMM, size);
    case device_work::write_immediate:
      return post(IBV_WR_RDMA_WRITE_WITH_IMM, size);
    case device_work::write_and_send:
      post(IBV_WR_RDMA_WRITE, size);
      return post(IBV_WR_SEND_WITH_IMM, news);
  }
}

void bare_device::look() {
  std::array<ibv_wc, 16> ended{};
  const std::size_t n = device_->poll(ended);
  for (std::size_t i = 0; i != n; ++i) {
    if (ended[i].status != IBV_WC_SUCCESS)
      throw std::runtime_error(
          fmt::format("the connection has broken: {}", ibv_wc_status_str(ended[i].status)));
    if (ended[i].wr_id != 0) {
      ++done_;
    } else {
      ++received_;
      post_receive();
    }
  }
}

void bare_device::finish() {
  spin_until([this] {
    look();
    return done_ == posted_;
  });
}

void bare_device::receive() {
  spin_until([this] {
    if (taken_ == received_) look();
    return taken_ != received_;
  });
  ++taken_;
}

}  // namespace weft::bench
