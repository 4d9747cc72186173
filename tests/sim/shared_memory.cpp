// SPDX-License-Identifier: Apache-2.0
#include "sim/shared_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace sim {

namespace {

constexpr std::size_t before_slots = sizeof(std::uint64_t);  // the counter

}  // namespace

shared_memory::shared_memory(dice chance, unsigned slots, std::size_t each, weft::region_name its)
    : name(its), chance_(chance), slots_(slots), each_(each), bytes_(before_slots + slots * each) {
  for (unsigned i = 0; i < slots; ++i) {
    if (use_of(i) != use::get) continue;
    const std::vector<std::byte> there = contents(i);
    std::copy(there.begin(), there.end(), bytes_.data() + before_slots + i * each_);
  }
}

use shared_memory::use_of(unsigned slot) const noexcept {
  constexpr std::array uses{use::put,      use::put, use::put,    use::told_put,
                            use::told_put, use::get, use::get,    use::get,
                            use::add,      use::add, use::beyond, use::before};
  const use what = chance_.part(slot).one_of(uses);
  return what == use::before && name.first == 0 ? use::beyond : what;
}

std::size_t shared_memory::size_of(unsigned slot) const noexcept {
  return chance_.part(10'000 + slot).between(0, each_);
}

weft::remote_region shared_memory::slot(unsigned i) const noexcept {
  std::uint64_t offset = name.first + before_slots + i * each_;
  if (use_of(i) == use::beyond) offset = name.first + bytes_.size() - size_of(i) + 1;
  if (use_of(i) == use::before) offset = name.first - 1;
  return {key, offset, size_of(i)};
}

std::vector<std::byte> shared_memory::contents(unsigned slot) const {
  std::vector<std::byte> bytes(size_of(slot));
  dice d = chance_.part(20'000 + slot);
  for (std::byte& b : bytes) b = static_cast<std::byte>(d.throw_one());
  return bytes;
}

bool shared_memory::excuses(unsigned slot, errc status) const noexcept {
  return status == errc::refused && (ending || is_refused(slot));
}

bool shared_memory::is_refused(unsigned slot) const noexcept {
  return use_of(slot) == use::beyond || use_of(slot) == use::before;
}

bool shared_memory::holds(unsigned slot) const {
  const std::vector<std::byte> whole = contents(slot);
  return std::equal(whole.begin(), whole.end(), bytes_.data() + before_slots + slot * each_);
}

std::string shared_memory::judge(const access_record& a, std::uint64_t told) {
  if (a.what == "notification") return a.status == errc::ok ? judge_notified(told) : "";
  if (a.what == "end of a region") return "";
  const bool well = a.status == errc::ok;
  switch (use_of(a.slot)) {
    case use::beyond:
    case use::before:
      return well ? "it was done where there is no memory" : "";
    case use::add:
      ++(well ? added_ : perhaps_);
      return well && !found_.insert(told).second ? fmt::format("{} was found twice", told) : "";
    case use::get: {
      const std::vector<std::byte> wanted = contents(a.slot);
      const bool same = std::equal(wanted.begin(), wanted.end(), a.memory.begin());
      return well && !same ? "it did not get what is there" : "";
    }
    case use::put:
    case use::told_put:
      if (!well) return "";
      written_.insert(a.slot);
      return holds(a.slot) ? "" : "it has ended, and its bytes are not there";
  }
  return "";
}

std::string shared_memory::judge_notified(std::uint64_t told) {
  if (told >= slots_ || use_of(static_cast<unsigned>(told)) != use::told_put)
    return fmt::format("nobody said {}", told);
  if (!heard_.insert(told).second) return fmt::format("{} was told twice", told);
  if (!holds(static_cast<unsigned>(told))) return "it came before its bytes";
  return "";
}

std::string shared_memory::judge_rest() const {
  for (const unsigned i : written_)
    if (!holds(i)) return fmt::format("what was put into slot {} was written over", i);
  for (unsigned i = 0; i < slots_; ++i)
    if (use_of(i) == use::get && !holds(i)) return fmt::format("slot {} was written", i);
  std::uint64_t count = 0;
  std::memcpy(&count, bytes_.data(), sizeof count);
  if (count < added_ || count > added_ + perhaps_)
    return fmt::format("{} were added, and perhaps {} more, but the word is {}", added_, perhaps_,
                       count);
  return "";
}

}  // namespace sim
