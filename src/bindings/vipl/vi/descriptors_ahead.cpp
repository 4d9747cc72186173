// SPDX-License-Identifier: Apache-2.0
// The receive descriptors that travel ahead of the messages that they will take, and the memory
// that they show to the peer.
#include <algorithm>
#include <cstring>
#include <utility>

#include "bindings/vipl/vi/vi.hpp"

namespace weft::vipl {

namespace {

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

}  // namespace

bool receive_queue::shows(const VIP_DESCRIPTOR& d) const noexcept {
  for (unsigned i = 0; i != d.CS.SegCount; ++i)
    if (std::find(shown_.begin(), shown_.end(), segment_of(d, i).Local.Handle) == shown_.end())
      return false;
  return true;
}

void receive_queue::show(const VIP_DESCRIPTOR& d) {
  for (unsigned i = 0; i != d.CS.SegCount; ++i) {
    const VIP_MEM_HANDLE handle = segment_of(d, i).Local.Handle;
    std::shared_ptr<landing_place> at;
    std::span<std::byte> bytes;
    {
      const nic::locked lock(vi_.owner);
      const registration* const r = vi_.owner.memory.find(handle);
      if (!r) continue;
      at = landing_;
      bytes = r->bytes;
    }
    at->show(vi_.owner, handle, bytes);
    bool registered = false;
    {
      const nic::locked lock(vi_.owner);
      registered = vi_.owner.memory.find(handle) != nullptr;
      if (registered && at == landing_ &&
          std::find(shown_.begin(), shown_.end(), handle) == shown_.end())
        shown_.push_back(handle);
    }
    if (!registered) at->forget(handle);  // another thread has ended the registration meanwhile
  }
}

std::shared_ptr<landing_place> receive_queue::hide(VIP_MEM_HANDLE handle) noexcept {
  std::erase(shown_, handle);
  return landing_;
}

/// Appends posted descriptors from number `from` on, as many as travel at once. \return how many
std::size_t receive_queue::describe(std::uint32_t from, std::size_t room,
                                    std::vector<std::byte>& out) {
  std::size_t count = 0;
  for (std::size_t i = from - taken_; i < posted_.size() && count != descriptors_in_batch;
       ++i, ++count) {
    const posted& r = posted_[i];
    const VIP_DESCRIPTOR& d = *r.descriptor;
    const std::size_t bytes = sizeof(descriptor_ahead) + d.CS.SegCount * sizeof(place_ahead);
    if (out.size() + bytes > room) break;
    append(out, descriptor_ahead{r.reach, d.CS.SegCount});
    std::uint32_t left = r.reach;
    for (unsigned k = 0; k != d.CS.SegCount; ++k) {
      const VIP_DATA_SEGMENT& s = segment_of(d, k).Local;
      append(out, place_ahead{s.Handle, std::min(s.Length, left), s.Data.AddressBits});
      left -= std::min(s.Length, left);
    }
  }
  return count;
}

/// At first all that are posted travel ahead. Later those of a peer that uses them: when a batch is
/// full, or it has used up what it knows.
bool receive_queue::worth_sending_ahead() const noexcept {
  if (!peer_places_ || !vi_.connection.connected() || !vi_.connection.peer()) return false;
  const std::uint32_t end = taken_ + static_cast<std::uint32_t>(posted_.size());
  return !comes_before(taken_, announced_) || end - announced_ >= descriptors_in_batch;
}

void receive_queue::send_ahead_from(std::uint32_t number, std::optional<std::uint32_t> answers_to) {
  std::vector<std::byte> list;
  append(list, list_ahead{});
  const std::size_t count = describe(number, longest_inline, list);
  const list_ahead head{complete_arrivals() - taken_, number, static_cast<std::uint32_t>(count)};
  std::memcpy(list.data(), &head, sizeof head);
  header h = vi_.connection.header_of(message::ahead);
  if (answers_to) {
    h.flags = flags::answers;
    h.length = *answers_to;
  }
  vi_.connection.say(h, list);
  if (!comes_before(number + head.count, announced_)) announced_ = number + head.count;
}

void receive_queue::send_ahead() {
  const nic::locked lock(vi_.owner);
  if (!vi_.connection.connected() || !vi_.connection.peer()) return;
  bool any = false;
  for (std::size_t i = 0; i != posted_.size(); ++i) any |= posted_[i].reach > longest_in_pieces;
  if (any) send_ahead_from(first_unannounced());
}

}  // namespace weft::vipl
