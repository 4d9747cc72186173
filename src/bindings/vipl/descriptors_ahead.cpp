// SPDX-License-Identifier: Apache-2.0
// The receive descriptors that travel ahead of the messages that they will take, and the memory
// that they show to the peer.
#include <algorithm>
#include <cstring>
#include <utility>

#include "bindings/vipl/vi.hpp"

namespace weft::vipl {

namespace {

/// How many descriptors of the peer are kept; it may send more, which are asked for later.
constexpr std::size_t most_known = 4096;

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), bytes, bytes + sizeof value);
}

}  // namespace

bool vi::shows(const VIP_DESCRIPTOR& d) const noexcept {
  for (unsigned i = 0; i != d.CS.SegCount; ++i)
    if (std::find(shown_.begin(), shown_.end(), d.DS[i].Local.Handle) == shown_.end()) return false;
  return true;
}

void vi::show(const VIP_DESCRIPTOR& d) {
  for (unsigned i = 0; i != d.CS.SegCount; ++i) {
    const VIP_MEM_HANDLE handle = d.DS[i].Local.Handle;
    std::shared_ptr<landing_place> at;
    std::span<std::byte> bytes;
    {
      const nic::locked lock(owner);
      const registration* const r = owner.memory.find(handle);
      if (!r) continue;
      at = landing_;
      bytes = r->bytes;
    }
    at->show(owner, handle, bytes);
    const nic::locked lock(owner);
    if (at == landing_ && std::find(shown_.begin(), shown_.end(), handle) == shown_.end())
      shown_.push_back(handle);
  }
}

std::shared_ptr<landing_place> vi::hide(VIP_MEM_HANDLE handle) {
  std::erase(shown_, handle);
  return landing_;
}

/// Appends posted descriptors from number `from` on, as many as travel at once. \return how many
std::size_t vi::describe(std::uint32_t from, std::size_t room, std::vector<std::byte>& out) {
  std::size_t count = 0;
  for (std::size_t i = from - taken_; i < posted_.size() && count != descriptors_in_batch;
       ++i, ++count) {
    const posted_receive& r = posted_[i];
    const VIP_DESCRIPTOR& d = *r.descriptor;
    const std::size_t bytes = sizeof(descriptor_ahead) + d.CS.SegCount * sizeof(place_ahead);
    if (out.size() + bytes > room) break;
    append(out, descriptor_ahead{r.capacity, d.CS.SegCount});
    for (unsigned k = 0; k != d.CS.SegCount; ++k) {
      const VIP_DATA_SEGMENT& s = d.DS[k].Local;
      append(out, place_ahead{s.Handle, s.Length, s.Data.AddressBits});
    }
  }
  return count;
}

/// Takes descriptors of the peer, which continue those that are known.
void vi::learn(std::span<const std::byte> from) {
  std::optional<descriptor_list> list = read_list(from);
  if (!list) return;
  if (list->dropped != dropped_there_) known_.clear();
  dropped_there_ = list->dropped;
  for (known_descriptor& k : list->all) {
    if (!known_.empty() && !comes_before(known_.back().number, k.number)) continue;
    if (!known_.empty() && k.number != known_.back().number + 1) known_.clear();
    if (known_.size() == most_known) return;
    known_.push_back(std::move(k));
  }
}

/// The descriptor that a send will take. \return null: it is not known
const known_descriptor* vi::descriptor_for(const work& w) noexcept {
  const std::uint32_t number = w.label - dropped_there_;
  while (!known_.empty() && comes_before(known_.front().number, number)) known_.pop_front();
  return !known_.empty() && known_.front().number == number ? &known_.front() : nullptr;
}

/// At first all that are posted travel ahead. Later those of a peer that uses them: when a batch is
/// full, or it has used up what it knows.
bool vi::worth_sending_ahead() const noexcept {
  if (state != VIP_STATE_CONNECTED || !peer_ || !peer_places_) return false;
  const std::uint32_t end = taken_ + static_cast<std::uint32_t>(posted_.size());
  return !comes_before(taken_, told_) || end - told_ >= descriptors_in_batch;
}

void vi::send_ahead_from(std::uint32_t number, std::uint8_t how) {
  std::vector<std::byte> list;
  append(list, list_ahead{});
  const std::size_t count = describe(number, longest_inline, list);
  const list_ahead head{arrived_ - taken_, number, static_cast<std::uint32_t>(count)};
  std::memcpy(list.data(), &head, sizeof head);
  if (!comes_before(number + head.count, told_)) told_ = number + head.count;
  header h = header_of(message::ahead);
  h.flags = how;
  owner.send_now(peer_, h, list);
}

void vi::send_ahead() {
  const nic::locked lock(owner);
  if (state != VIP_STATE_CONNECTED || !peer_) return;
  const bool any = std::any_of(posted_.begin(), posted_.end(),
                               [](const posted_receive& r) { return r.capacity > longest_inline; });
  if (any) send_ahead_from(comes_before(told_, taken_) ? taken_ : told_, 0);
}

}  // namespace weft::vipl
