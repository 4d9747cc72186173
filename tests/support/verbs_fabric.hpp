// SPDX-License-Identifier: Apache-2.0
// RDMA devices that consist of memory only, for tests of the verbs transport on any machine: posted
// work is done at once, in the order of posting, and checked as a device would check it.
#pragma once

#include <arpa/inet.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/error.hpp>

#include "runtime/descriptors/event_fd.hpp"
#include "transports/verbs/hardware/device.hpp"

namespace weft::tests {

namespace verbs = transports::verbs;

class fake_device;
class fake_queue_pair;

/// A device would break the connection; a test must fail.
[[noreturn]] inline void misuse(const char* how) noexcept {
  std::fprintf(stderr, "misuse of a fake device: %s\n", how);
  std::abort();
}

/// Connects devices. Belongs to one thread, and outlives the devices.
struct fabric {
  std::map<std::uint32_t, fake_queue_pair*> ends;  ///< by number
  std::uint32_t next_number = 17;
  std::uint32_t next_key = 1;
  bool cut = false;   ///< nothing arrives any more, and senders give up at once
  bool half = false;  ///< frames arrive up to their middle, and then stop
  std::size_t moves =
      ~std::size_t{0};  ///< so many bytes of each read or write; then it stands still

  void go_on();  ///< called after a change of these
};

class fake_device final : public verbs::device {
 public:
  explicit fake_device(fabric& on) : on_(on) {}

  // A test may change and read these.
  std::size_t lockable = ~std::size_t{0};  ///< bytes of memory that may still be enrolled
  std::uint32_t inline_bytes = 128;
  std::string unreachable;  ///< why no queue pair can be connected; empty: they can
  bool deaf = false;        ///< armed, it gives no event
  bool refuses = false;     ///< refuses posted sends
  bool port_up = true;      ///< the reported state; a fabric that is cut does not change it
  std::deque<verbs::device_event> to_tell;
  std::size_t signalled = 0, posted = 0;  ///< sends
  std::size_t times_without_receive = 0;  ///< for which a send had to wait
  std::size_t reads = 0, writes = 0;      ///< posted
  std::size_t written_frames = 0;         ///< writes with immediate data, posted
  verbs::abilities abilities{};

  std::size_t regions_known() const noexcept { return known_.size(); }

  std::size_t receives_posted() const noexcept { return receives_.size(); }
  void tell(verbs::device_event e) {
    to_tell.push_back(std::move(e));
    event_bell_.ring();
  }

  const verbs::place& here() const noexcept override { return here_; }
  const verbs::abilities& can() const noexcept override { return abilities; }
  std::string describe() const override { return "a fake device"; }

  std::unique_ptr<verbs::registration> enroll(std::span<std::byte> memory, std::uint64_t first,
                                              int access) override {
    if ((reinterpret_cast<std::uintptr_t>(memory.data()) - first) % 4096 != 0)
      misuse("an address differs within its page");
    if (memory.size() > lockable) throw error(errc::out_of_memory, "no more memory to lock");
    lockable -= memory.size();
    return std::make_unique<enrolled>(*this, memory, first, access);
  }
  std::unique_ptr<verbs::queue_pair> make_queue_pair() override;
  int post_receives(ibv_recv_wr& first, ibv_recv_wr** first_refused) noexcept override;

  std::size_t poll(std::span<ibv_wc> completions) noexcept override {
    const std::size_t n = std::min(completions.size(), done_.size());
    std::copy_n(done_.begin(), n, completions.begin());
    done_.erase(done_.begin(), done_.begin() + static_cast<std::ptrdiff_t>(n));
    return n;
  }
  int channel() const noexcept override { return channel_bell_.fd(); }
  bool arm() noexcept override { return armed_ = true; }
  void drain_channel() noexcept override { channel_bell_.drain(); }
  int events() const noexcept override { return event_bell_.fd(); }
  std::optional<verbs::device_event> next_event() noexcept override {
    event_bell_.drain();
    if (to_tell.empty()) return {};
    verbs::device_event e = std::move(to_tell.front());
    to_tell.pop_front();
    return e;
  }
  bool port_is_up() noexcept override { return port_up; }

 private:
  friend class fake_queue_pair;

  struct enrolled final : verbs::registration {
    enrolled(fake_device& of, std::span<std::byte> m, std::uint64_t address, int access)
        : of_(of), memory(m), first(address), rights(access), key(of.on_.next_key++) {
      of_.known_[key] = this;
    }
    ~enrolled() override {
      of_.known_.erase(key);
      of_.lockable += memory.size();
    }
    std::uint32_t local_key() const noexcept override { return key; }
    std::uint32_t remote_key() const noexcept override { return key; }

    fake_device& of_;
    const std::span<std::byte> memory;
    const std::uint64_t first;
    const int rights;
    const std::uint32_t key;
  };

  /// Null data: the device does not know that memory, or not with those rights.
  std::span<std::byte> find(std::uint32_t key, std::uint64_t address, std::size_t size,
                            int rights) const noexcept {
    const auto found = known_.find(key);
    if (found == known_.end() || (found->second->rights & rights) != rights) return {};
    const enrolled& e = *found->second;
    if (address < e.first || address - e.first > e.memory.size() ||
        size > e.memory.size() - (address - e.first))
      return {};
    return e.memory.subspan(address - e.first, size);
  }
  std::span<std::byte> checked(const ibv_sge& piece, int rights = 0) const noexcept {
    const auto found = find(piece.lkey, piece.addr, piece.length, rights);
    if (!found.data()) misuse("work is posted on memory that it does not know");
    return found;
  }
  void complete(const ibv_wc& c) {
    done_.push_back(c);
    if (!armed_ || deaf) return;
    armed_ = false;
    channel_bell_.ring();
  }

  struct receive {
    std::uint64_t id;
    std::span<std::byte> into;
  };

  fabric& on_;
  verbs::place here_;
  std::map<std::uint32_t, enrolled*> known_;
  std::deque<receive> receives_;
  std::deque<ibv_wc> done_;
  runtime::event_fd channel_bell_, event_bell_;
  bool armed_ = false;
};

class fake_queue_pair final : public verbs::queue_pair {
 public:
  explicit fake_queue_pair(fake_device& of) : of_(of), number_(of.on_.next_number++) {
    of.on_.ends[number_] = this;
  }
  ~fake_queue_pair() override {
    of_.on_.ends.erase(number_);
    std::erase_if(of_.done_, [this](const ibv_wc& c) { return c.qp_num == number_; });
  }

  std::uint32_t number() const noexcept override { return number_; }
  std::uint32_t inline_bytes() const noexcept override { return of_.inline_bytes; }
  std::string connect(const verbs::queue_pair_address& there, std::uint32_t,
                      std::chrono::seconds) override {
    if (of_.unreachable.empty()) peer_ = there.queue_pair;
    return of_.unreachable;
  }
  int post(ibv_send_wr& work) noexcept override {
    ++of_.posted;
    const bool said = (work.send_flags & IBV_SEND_SIGNALED) != 0;
    if (said) ++of_.signalled;
    if (of_.refuses || waiting_.size() >= verbs::sizes{}.sends) return ENOMEM;
    send s{work.wr_id, {}, ntohl(work.imm_data), said, work.opcode};
    s.key = work.wr.rdma.rkey;
    s.address = work.wr.rdma.remote_addr;
    if (work.opcode == IBV_WR_RDMA_READ) ++of_.reads;
    if (work.opcode == IBV_WR_RDMA_WRITE && work.num_sge != 0) ++of_.writes;
    if (work.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) ++of_.written_frames;
    for (int i = 0; i != work.num_sge; ++i) {
      const ibv_sge& piece = work.sg_list[i];
      if ((work.send_flags & IBV_SEND_INLINE) != 0) {
        if (piece.length > of_.inline_bytes) return EINVAL;
        const auto* const from = reinterpret_cast<const std::byte*>(piece.addr);
        s.copied.assign(from, from + piece.length);
      } else {
        s.from = of_.checked(piece, rights_here(work.opcode));
        s.piece = piece;
      }
    }
    waiting_.push_back(std::move(s));
    go_on();
    return 0;
  }
  void fail() noexcept override {
    failed_ = true;
    go_on();
  }

  /// Performs the posted work, as far as the other side has receives.
  void go_on() {
    while (!waiting_.empty()) {
      send& s = waiting_.front();
      const auto other = of_.on_.ends.find(peer_);
      ibv_wc sent{};
      sent.wr_id = s.id;
      sent.qp_num = number_;
      sent.opcode = IBV_WC_SEND;
      if (failed_) {
        sent.status = IBV_WC_WR_FLUSH_ERR;
        end_half_received();  // not at once, but before newly posted work
      } else if (of_.on_.cut || other == of_.on_.ends.end() || other->second->failed_) {
        sent.status = IBV_WC_RETRY_EXC_ERR;
        failed_ = true;
      } else if (s.is_of_memory() && !move(s, other->second->of_)) {
        sent.status = IBV_WC_REM_ACCESS_ERR;
        failed_ = other->second->failed_ = true;
      } else if (s.is_of_memory() && s.moved < s.bytes().size()) {
        return;
      } else if (s.takes_receive() && !other->second->take(s)) {
        ++of_.times_without_receive;
        return;
      }
      if (s.said || sent.status != IBV_WC_SUCCESS) of_.complete(sent);
      waiting_.pop_front();
    }
  }

 private:
  struct send {
    std::uint64_t id;
    std::span<const std::byte> from;
    std::uint32_t immediate;
    bool said;
    ibv_wr_opcode opcode;
    std::vector<std::byte> copied = {};
    ibv_sge piece = {};
    std::uint32_t key = 0;  // of the peer's memory
    std::uint64_t address = 0;
    std::size_t moved = 0;

    std::span<const std::byte> bytes() const noexcept { return copied.empty() ? from : copied; }
    bool takes_receive() const noexcept {
      return opcode == IBV_WR_SEND_WITH_IMM || opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
    }
    bool is_of_memory() const noexcept {
      return opcode != IBV_WR_SEND_WITH_IMM && !bytes().empty();
    }
  };

  static constexpr int rights_here(ibv_wr_opcode what) noexcept {
    return what == IBV_WR_RDMA_READ ? IBV_ACCESS_LOCAL_WRITE : 0;
  }

  /// As far as the fabric permits. \return false: the peer's device refuses
  bool move(send& s, const fake_device& there) {
    const bool reads = s.opcode == IBV_WR_RDMA_READ;
    const auto far = there.find(s.key, s.address, s.bytes().size(),
                                reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE);
    if (!far.data()) return false;
    const std::size_t until = std::min(of_.on_.moves, far.size());
    const auto rest = [&](std::span<std::byte> all) {
      return all.subspan(s.moved, until - s.moved);
    };
    // Its registration must last while the device may use it.
    const std::span<std::byte> here =
        s.copied.empty() ? of_.checked(s.piece, rights_here(s.opcode)) : s.copied;
    if (s.moved >= until) return true;
    std::ranges::copy(rest(reads ? far : here), rest(reads ? here : far).begin());
    s.moved = until;
    return true;
  }

  ibv_wc received_into(const fake_device::receive& at) const noexcept {
    ibv_wc c{};
    c.wr_id = at.id;
    c.qp_num = number_;
    c.opcode = IBV_WC_RECV;
    return c;
  }

  void end_half_received() {
    if (!half_received_) return;
    ibv_wc c = received_into(*std::exchange(half_received_, std::nullopt));
    c.status = IBV_WC_WR_FLUSH_ERR;
    of_.complete(c);
  }

  /// \return false: the send has to wait
  bool take(const send& s) {
    if (!half_received_) {
      if (of_.receives_.empty()) return false;
      half_received_ = of_.receives_.front();
      of_.receives_.pop_front();
    }
    if (of_.on_.half) return false;
    const fake_device::receive at = *std::exchange(half_received_, std::nullopt);
    const std::span<const std::byte> from = s.bytes();
    ibv_wc c = received_into(at);
    if (s.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
      c.opcode = IBV_WC_RECV_RDMA_WITH_IMM;  // the bytes are where the peer has written them
    } else {
      if (from.size() > at.into.size()) misuse("a frame is longer than a receive");
      std::copy(from.begin(), from.end(), at.into.begin());
    }
    c.byte_len = static_cast<std::uint32_t>(from.size());
    c.wc_flags = IBV_WC_WITH_IMM;
    c.imm_data = htonl(s.immediate);
    of_.complete(c);
    return true;
  }

  fake_device& of_;
  const std::uint32_t number_;
  std::uint32_t peer_ = 0;
  bool failed_ = false;
  std::deque<send> waiting_;
  std::optional<fake_device::receive> half_received_;
};

inline std::unique_ptr<verbs::queue_pair> fake_device::make_queue_pair() {
  return std::make_unique<fake_queue_pair>(*this);
}

inline int fake_device::post_receives(ibv_recv_wr& first, ibv_recv_wr**) noexcept {
  for (const ibv_recv_wr* r = &first; r; r = r->next)
    receives_.push_back({r->wr_id, checked(*r->sg_list)});
  on_.go_on();  // performs the sends that had to wait
  return 0;
}

inline void fabric::go_on() {
  for (const auto& [number, end] : ends) end->go_on();
}

}  // namespace weft::tests
