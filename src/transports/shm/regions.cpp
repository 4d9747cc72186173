// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/regions.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

namespace weft::transports::shm {

namespace {

/// Bytes between two ranges that are known to be written, at most, that are looked at to make them
/// one.
constexpr std::uint64_t widest_gap = std::uint64_t{16} << 20;

/// \return also true if the kernel does not tell
bool has_all_pages(const std::byte* at, std::size_t size) noexcept {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = reinterpret_cast<std::uintptr_t>(at) % page;
  const std::byte* first = at - before;
  std::size_t pages = (before + size + page - 1) / page;
  while (pages != 0) {
    std::array<unsigned char, 64> there;
    const std::size_t n = std::min(pages, there.size());
    if (::mincore(const_cast<std::byte*>(first), n * page, there.data()) != 0) return true;
    if (!std::all_of(there.begin(), there.begin() + static_cast<std::ptrdiff_t>(n),
                     [](unsigned char p) { return (p & 1) != 0; }))
      return false;
    first += n * page;
    pages -= n;
  }
  return true;
}

}  // namespace

wireup_message pack(const region_note& note) {
  wireup_message p;
  p.bytes.resize(sizeof note);
  std::memcpy(p.bytes.data(), &note, sizeof note);
  return p;
}

std::span<std::byte> own_regions::allocate(std::size_t size) {
  constexpr std::uint64_t numbers = std::numeric_limits<std::uint16_t>::max();  // 0 is none
  if (all_.size() == numbers)
    throw error(errc::out_of_memory,
                "a context can have 65535 shared regions at a time; make fewer, larger ones");
  if (size > most_shown_bytes)
    throw error(errc::out_of_memory, "a shared region can have 1 TiB; make several");
  const auto number_of = [](std::uint64_t place) {
    return static_cast<std::uint16_t>((place - 1) % numbers + 1);
  };
  std::uint64_t place = last_ + 1;
  while (by_number_.contains(number_of(place))) ++place;
  const region_name name{number_of(place), static_cast<std::uint8_t>((place - 1) / numbers)};

  unique_fd file = runtime::make_memory_file("weft-region", size);
  runtime::mapping memory = runtime::map_own(file, size);
  runtime::seal_for_readers(file);
  auto* at = static_cast<std::byte*>(memory.get());
  by_number_.emplace(name.number, place);
  try {
    by_address_.emplace(at, place);
    all_.emplace(place, region{name, std::move(file), std::move(memory)});
  } catch (...) {
    by_address_.erase(at);
    by_number_.erase(name.number);
    throw;
  }
  last_ = place;
  return {at, size};
}

std::uint64_t own_regions::free(std::span<std::byte> memory) noexcept {
  const auto known = by_address_.find(memory.data());
  if (known == by_address_.end()) return 0;
  const std::uint64_t place = known->second;
  const auto it = all_.find(place);
  by_number_.erase(it->second.name.number);
  by_address_.erase(known);
  all_.erase(it);
  return place;
}

const own_regions::regions::value_type* own_regions::find(const_buffer data) const noexcept {
  auto after = by_address_.upper_bound(data.data());
  if (after == by_address_.begin()) return nullptr;
  const auto& [begin, place] = *--after;
  const auto& found = *all_.find(place);
  const auto offset = static_cast<std::size_t>(data.data() - begin);
  const std::size_t size = found.second.memory.size();
  return offset > size || data.size() > size - offset ? nullptr : &found;
}

std::optional<remote_address> shown_regions::expose(const_buffer data, const own_regions& all,
                                                    const teller& tell) {
  const auto* const found = all.find(data);
  if (!found) return {};
  const auto& [place, region] = *found;
  if (!shown_.contains(place) &&
      !(make_room(region.memory.size(), tell) && show(place, region, tell)))
    return {};
  // Shows the others too, before they are needed: a region shown with its first message would come
  // too late for it.
  for (auto it = all.all().upper_bound(seen_); it != all.all().end(); ++it) {
    const std::size_t size = it->second.memory.size();
    const bool room = shown_.size() < most_shown_regions && size <= most_shown_bytes - bytes_;
    if (!shown_.contains(it->first) && (!room || !show(it->first, it->second, tell))) break;
    seen_ = it->first;
  }
  shown_.at(place).last_use = ++uses_;
  const auto* const begin = static_cast<const std::byte*>(region.memory.get());
  return region.name.at(static_cast<std::uint64_t>(data.data() - begin));
}

/// \return false: the peer takes no more notes for now
bool shown_regions::show(std::uint64_t place, const own_regions::region& r, const teller& tell) {
  if (!may_tell()) return false;
  wireup_message p = pack({note_kind::shown, r.name.generation, r.name.number, 0});
  p.fds.push_back(runtime::duplicate(r.file.get()));
  const auto it = shown_.emplace(place, shown{r.name, r.memory.size(), uses_, false}).first;
  try {
    tell(std::move(p));
  } catch (...) {
    shown_.erase(it);
    throw;
  }
  bytes_ += r.memory.size();
  ++told_;
  return true;
}

/// Takes back the regions that were unused for longest.
bool shown_regions::make_room(std::size_t bytes, const teller& tell) {
  while (shown_.size() >= most_shown_regions || bytes > most_shown_bytes - bytes_) {
    const auto oldest = std::min_element(
        shown_.begin(), shown_.end(),
        [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; });
    if (oldest == shown_.end() || !tell_gone(oldest, tell)) return false;
  }
  return true;
}

bool shown_regions::tell_gone(shown_map::iterator it, const teller& tell) noexcept {
  if (!may_tell()) return false;
  try {
    tell(pack({note_kind::gone, it->second.name.generation, it->second.name.number, 0}));
  } catch (const std::exception&) {
    return false;
  }
  ++told_;
  bytes_ -= it->second.bytes;
  shown_.erase(it);
  return true;
}

void shown_regions::hide(std::uint64_t place, const teller& tell) noexcept {
  const auto it = shown_.find(place);
  if (it == shown_.end() || tell_gone(it, tell)) return;
  it->second.gone = some_gone_ = true;
  it->second.last_use = 0;
}

void shown_regions::taken(std::uint32_t count, const teller& tell) noexcept {
  if (count - taken_ > told_ - taken_) return;  // more than were sent
  taken_ = count;
  if (!some_gone_) return;
  for (auto it = shown_.begin(); it != shown_.end();) {
    const auto next = std::next(it);
    if (it->second.gone && !tell_gone(it, tell)) return;
    it = next;
  }
  some_gone_ = false;
}

void peer_regions::learn(const region_note& note, wireup_message p) noexcept {
  ++notes_;
  if (note.number == 0) return;
  const auto known = mapped_.find(note.number);
  if (note.kind == note_kind::gone) {
    if (known == mapped_.end() || known->second.generation != note.generation) return;
    mapped_.erase(known);
    return;
  }
  if (p.fds.size() != 1 || !runtime::is_sealed_for_readers(p.fds[0])) return;
  const std::size_t size = runtime::size_of(p.fds[0]);
  if (known == mapped_.end() && mapped_.size() == most_shown_regions) return;
  try {
    if (!bytes_) bytes_ = std::make_shared<std::atomic<std::size_t>>(0);
    const std::size_t all = bytes_->load(std::memory_order_relaxed);
    const std::size_t others = all - (known == mapped_.end() ? 0 : known->second.memory->size());
    if (others > most_shown_bytes || size > most_shown_bytes - others) return;
    auto mapped = std::make_shared<counted>(runtime::map_from_peer(p.fds[0], size, false), bytes_);
    seen now{note.generation, mapped, &mapped->memory};
    mapped_.insert_or_assign(note.number, std::move(now));
    // The mapping holds the memory: closing the descriptor frees nothing and cannot block.
    ::close(p.fds[0].release());
  } catch (const std::exception&) {
    // Not mapped: `find` does not find it, and the data comes through the ring.
  }
}

std::optional<std::uint32_t> peer_regions::to_tell() noexcept {
  if (notes_ - told_ < shown_regions::most_notes_ahead / 4) return {};
  return told_ = notes_;
}

const std::byte* peer_regions::find(remote_address from, std::size_t size) const noexcept {
  const auto it = mapped_.find(from.region);
  const std::uint64_t offset = region_name::offset_of(from);
  if (it == mapped_.end() || it->second.generation != region_name::generation_of(from))
    return nullptr;
  const runtime::mapping& m = *it->second.memory;
  if (offset > m.size() || size > m.size() - offset) return nullptr;
  return static_cast<const std::byte*>(m.get()) + offset;
}

const std::byte* peer_regions::find_written(remote_address from, std::size_t size) noexcept {
  const std::byte* const at = find(from, size);
  if (!at) return nullptr;
  seen& region = mapped_.find(from.region)->second;
  const std::uint64_t begin = region_name::offset_of(from), end = begin + size;
  if (begin >= region.written_from && end <= region.written_to) return at;
  if (!has_all_pages(at, size)) return nullptr;
  const bool known = region.written_to != 0;
  const std::uint64_t all_from = known ? std::min(begin, region.written_from) : begin;
  const std::uint64_t all_to = std::max(end, region.written_to);
  // Between the two: blocks of a pool, most of which have been written.
  const std::uint64_t gap_from = std::min(end, region.written_to);
  const std::uint64_t gap_to = std::max(begin, region.written_from);
  if (known && gap_to > gap_from &&
      (gap_to - gap_from > widest_gap ||
       !has_all_pages(at - begin + gap_from, gap_to - gap_from))) {
    region.written_from = begin;
    region.written_to = end;
  } else {
    region.written_from = all_from;
    region.written_to = all_to;
  }
  return at;
}

peer_view peer_regions::view(remote_address from, std::size_t size) noexcept {
  const std::byte* const at = find_written(from, size);
  if (!at) return {};
  return {at, &mapped_.find(from.region)->second.owner};
}

}  // namespace weft::transports::shm
