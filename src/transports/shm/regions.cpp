// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/regions.hpp"

#include <limits>

namespace weft::transports::shm {

std::span<std::byte> own_regions::allocate(std::size_t size) {
  if (next_ == std::numeric_limits<std::uint16_t>::max())
    throw error(errc::out_of_memory,
                "a context can make 65534 shared regions; make fewer, larger ones");
  runtime::unique_fd file = runtime::make_memory_file("weft-region", size);
  runtime::mapping memory = runtime::map_own(file, size);
  runtime::seal_for_readers(file);
  auto* at = static_cast<std::byte*>(memory.get());
  by_address_.emplace(at, region{next_++, std::move(file), std::move(memory)});
  return {at, size};
}

void own_regions::free(std::span<std::byte> memory) noexcept { by_address_.erase(memory.data()); }

std::optional<remote_address> own_regions::find(const_buffer data) const noexcept {
  auto after = by_address_.upper_bound(data.data());
  if (after == by_address_.begin()) return {};
  const auto& [begin, r] = *--after;
  const auto offset = static_cast<std::size_t>(data.data() - begin);
  if (offset > r.memory.size() || data.size() > r.memory.size() - offset) return {};
  return remote_address{r.number, offset};
}

parcel own_regions::note_of(std::uint16_t number) const {
  parcel p;
  for (const auto& [begin, r] : by_address_) {
    if (r.number != number) continue;
    p.bytes.resize(sizeof number);
    std::memcpy(p.bytes.data(), &number, sizeof number);
    p.fds.push_back(runtime::duplicate(r.file.get()));
  }
  return p;
}

std::vector<std::uint16_t> own_regions::numbers() const {
  std::vector<std::uint16_t> all;
  for (const auto& [begin, r] : by_address_) all.push_back(r.number);
  return all;
}

void peer_regions::learn(parcel note) noexcept {
  std::uint16_t number = 0;
  if (note.bytes.size() != sizeof number || note.fds.size() != 1) return;
  std::memcpy(&number, note.bytes.data(), sizeof number);
  const std::size_t size = runtime::size_of(note.fds[0]);
  const auto known = mapped_.find(number);
  const std::size_t others = bytes_ - (known == mapped_.end() ? 0 : known->second.size());
  if (number == 0 || size > most_bytes - others) return;
  if (known == mapped_.end() && mapped_.size() == most_regions) return;
  try {
    mapped_.insert_or_assign(number, runtime::map_from_peer(note.fds[0], size, false));
    bytes_ = others + size;
  } catch (const std::exception&) {
    // Not mapped: `find` will not find it, and the data comes through the ring.
  }
}

const std::byte* peer_regions::find(remote_address from, std::size_t size) const noexcept {
  const auto it = mapped_.find(from.region);
  if (it == mapped_.end()) return nullptr;
  const runtime::mapping& m = it->second;
  if (from.offset > m.size() || size > m.size() - from.offset) return nullptr;
  return static_cast<const std::byte*>(m.get()) + from.offset;
}

}  // namespace weft::transports::shm
