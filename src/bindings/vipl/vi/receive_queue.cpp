// SPDX-License-Identifier: Apache-2.0
// The receive queue: what the application posts, what the peer learns, and the end.
#include "bindings/vipl/vi/receive_queue.hpp"

#include <utility>

#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

namespace {

std::uint64_t room_of(const VIP_DESCRIPTOR& d) noexcept {
  std::uint64_t room = 0;
  for (unsigned i = 0; i != d.CS.SegCount; ++i) room += segment_of(d, i).Local.Length;
  return room;
}

}  // namespace

/// Flushes the descriptors of a connection, when its peer places bytes no more.
class receive_queue::ending final : public service::job {
 public:
  ending(nic& n, std::shared_ptr<landing_place> l) noexcept : nic_(n), place_(std::move(l)) {}
  void run() override {
    place_->end();
    const nic::locked lock(nic_);
    vi* const v = nic_.find(number);
    if (v && v->receives.landing_ == place_ && v->connection.state() == VIP_STATE_ERROR)
      v->receives.flush();
  }

  std::uint32_t number = 0;  ///< of the VI, which may be gone by then

 private:
  nic& nic_;
  const std::shared_ptr<landing_place> place_;
};

receive_queue::receive_queue(vi& of, completion_queue* queue) : finished(of, true, queue), vi_(of) {
  renew_landing_place();
}
receive_queue::~receive_queue() = default;

void receive_queue::restart() noexcept {
  arrived_ = taken_ = announced_ = 0;
  peer_places_ = confirms_ = tells_drop_ = false;
  incoming_ = {};
  asked_.reset();
  refused_.reset();
}

// --- posts --------------------------------------------------------------------------------------

bool receive_queue::may_post(const VIP_DESCRIPTOR& d) const noexcept {
  return room_of(d) <= longest_in_pieces || shows(d);
}

bool receive_queue::uses(const registration& r, VIP_MEM_HANDLE handle) const noexcept {
  for (std::size_t i = 0; i != posted_.size(); ++i)
    if (vipl::uses(*posted_[i].descriptor, 0, r, handle)) return true;
  return false;
}

void receive_queue::withdraw(const registration& r, VIP_MEM_HANDLE handle) noexcept {
  for (std::size_t i = 0; i != posted_.size(); ++i)
    if (vipl::uses(*posted_[i].descriptor, 0, r, handle)) {
      posted_[i].withdrawn = true;
      posted_[i].reach = 0;
    }
}

void receive_queue::post(VIP_DESCRIPTOR& d, std::uint32_t reach) {
  posted_.reserve(posted_.size() + 1);
  finished.expect();
  posted_.push({&d, static_cast<std::uint32_t>(room_of(d)), reach});
  if (!worth_sending_ahead()) return;
  try {
    send_ahead_from(first_unannounced());
  } catch (const std::exception&) {
    // No memory: the peer asks.
  }
}

void receive_queue::post_wrong(VIP_DESCRIPTOR& d, std::uint32_t status) {
  finished.expect();
  d.CS.Length = 0;
  d.CS.Status = status | VIP_STATUS_OP_RECEIVE;
  finished.complete(d);
}

// --- what the peer is to learn ------------------------------------------------------------------

void receive_queue::settle() {
  if (!vi_.connection.peer()) return;
  if (std::exchange(confirms_, false)) {
    // Not a message that was refused, nor those behind it.
    header h = vi_.connection.header_of(message::arrived);
    h.length = refused_.value_or(complete_arrivals());
    vi_.connection.say(h);
  }
  if (const auto label = std::exchange(refused_, std::nullopt)) {
    header h = vi_.connection.header_of(message::refused);
    h.length = *label;
    vi_.connection.say(h);
  }
  const auto asked = std::exchange(asked_, std::nullopt);
  const bool dropped = std::exchange(tells_drop_, false);
  if ((asked || dropped) && vi_.connection.connected()) send_ahead_from(taken_, asked);
}

// --- the end of a connection --------------------------------------------------------------------

void receive_queue::renew_landing_place() {
  nic& n = vi_.owner;
  landing_ = std::make_shared<landing_place>(
      scramble(n.secret() ^ scramble(reinterpret_cast<std::uintptr_t>(this) + ++connections_)));
  ending_ = std::make_unique<ending>(n, landing_);
  shown_.clear();
}

void receive_queue::end_soon() noexcept {
  if (shown_.empty()) return flush();
  ending_->number = vi_.number;
  vi_.owner.run_soon(std::move(ending_));
}

void receive_queue::flush() noexcept {
  while (!posted_.empty()) take(VIP_STATUS_OP_RECEIVE | VIP_STATUS_DESC_FLUSHED_ERROR, 0);
}

}  // namespace weft::vipl
