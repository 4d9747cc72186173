// SPDX-License-Identifier: Apache-2.0
// Registered memory: which is found again, which is not, and which never is.
#include "transports/registration_cache.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <utility>
#include <vector>

using namespace weft::transports;
using weft::registration_caching;

namespace {

constexpr std::size_t memory_size = 4096;

/// A device that records its calls, and memory whose contents change their identity whenever it is
/// reused.
class device final : public memory_registrar {
 public:
  struct entry {
    std::size_t begin, size;
    memory_access how;
    std::vector<unsigned> identity;  // of each byte when it was registered
  };

  void* enlist(std::span<std::byte> m, memory_access how) noexcept override {
    if (refuse) return nullptr;
    const auto begin = static_cast<std::size_t>(m.data() - memory.data());
    const auto first = identity.begin() + static_cast<std::ptrdiff_t>(begin);
    live.push_back(std::make_unique<entry>(
        entry{begin, m.size(), how, {first, first + static_cast<std::ptrdiff_t>(m.size())}}));
    bytes += m.size();
    return live.back().get();
  }
  void dismiss(void* r) noexcept override {
    const auto it =
        std::find_if(live.begin(), live.end(), [r](const auto& e) { return e.get() == r; });
    REQUIRE(it != live.end());
    bytes -= (*it)->size;
    live.erase(it);
  }

  std::span<std::byte> at(std::size_t begin, std::size_t size) {
    return std::span(memory).subspan(begin, size);
  }
  /// Whether a registration in use is of that memory in its present state.
  bool serves(void* r, std::size_t begin, std::size_t size, memory_access how) const {
    const auto it =
        std::find_if(live.begin(), live.end(), [r](const auto& e) { return e.get() == r; });
    if (it == live.end()) return false;
    const entry& e = **it;
    if (begin < e.begin || begin + size > e.begin + e.size ||
        (how == memory_access::write && e.how != how))
      return false;
    for (std::size_t i = begin; i != begin + size; ++i)
      if (identity[i] != e.identity[i - e.begin]) return false;
    return true;
  }
  void give_to_somebody_else(std::size_t begin, std::size_t size) {
    for (std::size_t i = begin; i != begin + size; ++i) ++identity[i];
  }

  std::vector<std::byte> memory = std::vector<std::byte>(memory_size);
  std::vector<unsigned> identity = std::vector<unsigned>(memory_size);
  std::vector<std::unique_ptr<entry>> live;
  std::size_t bytes = 0;
  bool refuse = false;
};

/// The same policy, with one list and without regard to speed.
class model {
 public:
  explicit model(const weft::registration_cache_settings& s) : s_(s) {}

  struct entry {
    std::size_t begin, size;
    memory_access how;
    std::size_t users = 0;
    bool lost = false;  // not found any more
    std::uint64_t unused_since = 0;
  };

  /// \return the entry that serves it from now on; null: none can
  entry* get(std::size_t begin, std::size_t size, memory_access how, bool& registered) {
    registered = false;
    // Of several entries: one that may be written, and then the one that begins last.
    entry* best = nullptr;
    for (const auto& e : all_)
      if (!e->lost && e->begin <= begin && begin + size <= e->begin + e->size &&
          (e->how == memory_access::write || how == memory_access::read) &&
          (!best || std::pair(e->how, e->begin) > std::pair(best->how, best->begin)))
        best = e.get();
    if (best) {
      ++best->users;
      return best;
    }
    for (const auto& e : all_)
      if (begin <= e->begin && e->begin + e->size <= begin + size &&
          (how == memory_access::write || e->how == memory_access::read))
        e->lost = true;
    sweep();
    if (size > s_.most_bytes || s_.most_entries == 0) return nullptr;
    while (bytes() + size > s_.most_bytes || all_.size() >= s_.most_entries)
      if (!evict()) return nullptr;
    registered = true;
    all_.push_back(std::make_unique<entry>(entry{begin, size, how, 1}));
    return all_.back().get();
  }
  void release(entry& e) {
    --e.users;
    e.unused_since = ++clock_;
    sweep();
  }
  void forget(std::size_t begin, std::size_t size) {
    for (const auto& e : all_)
      if (begin < e->begin + e->size && e->begin < begin + size) e->lost = true;
    sweep();
  }
  std::size_t bytes() const {
    std::size_t n = 0;
    for (const auto& e : all_) n += e->size;
    return n;
  }
  std::size_t entries() const { return all_.size(); }
  std::uint64_t evictions = 0;

 private:
  void sweep() {
    std::erase_if(all_, [](const auto& e) { return e->lost && e->users == 0; });
  }
  bool evict() {
    entry* oldest = nullptr;
    for (const auto& e : all_)
      if (e->users == 0 && (!oldest || e->unused_since < oldest->unused_since)) oldest = e.get();
    if (!oldest) return false;
    oldest->lost = true;
    ++evictions;
    sweep();
    return true;
  }

  const weft::registration_cache_settings s_;
  std::vector<std::unique_ptr<entry>> all_;
  std::uint64_t clock_ = 0;
};

}  // namespace

TEST_CASE("region cache: the same range, a part of one, and one that is longer") {
  device d;
  registration_cache cache(d, {registration_caching::on});
  { const auto whole = cache.get(d.at(100, 1000), memory_access::write); }
  CHECK(d.live.size() == 1);
  void* first = nullptr;
  {
    const auto again = cache.get(d.at(100, 1000), memory_access::read);
    const auto part = cache.get(d.at(1000, 100), memory_access::write);
    REQUIRE(again);
    REQUIRE(part);
    CHECK(again.registration() == part.registration());
    CHECK(part.memory().data() == d.memory.data() + 100);
    first = part.registration();
  }
  CHECK(cache.counts().hits == 1);
  CHECK(cache.counts().sub_range_hits == 1);
  CHECK(cache.counts().registrations == 1);
  const auto longer = cache.get(d.at(100, 1001), memory_access::read);
  CHECK(longer.registration() != first);
  CHECK(cache.counts().registrations == 2);
  const auto to_write = cache.get(d.at(500, 1), memory_access::write);
  CHECK(to_write.registration() == first);
}

TEST_CASE("region cache: what is registered for reading is not written") {
  device d;
  registration_cache cache(d, {registration_caching::on});
  { const auto read = cache.get(d.at(0, 1000), memory_access::read); }
  const auto write = cache.get(d.at(10, 10), memory_access::write);
  CHECK(cache.counts().registrations == 2);
  CHECK(d.serves(write.registration(), 10, 10, memory_access::write));
}

TEST_CASE("region cache: off, nothing stays, and nothing is shared") {
  device d;
  registration_cache cache(d, {registration_caching::off});
  {
    const auto one = cache.get(d.at(0, 100), memory_access::read);
    const auto other = cache.get(d.at(0, 100), memory_access::read);
    CHECK(d.live.size() == 2);
  }
  CHECK(d.live.empty());
  CHECK(cache.counts().bytes_now == 0);
}

TEST_CASE("region cache: forgotten memory ends at once, or when nobody uses it any more") {
  device d;
  registration_cache cache(d, {registration_caching::on});
  { const auto idle = cache.get(d.at(0, 100), memory_access::read); }
  auto used =
      std::make_unique<registration_cache::use>(cache.get(d.at(150, 100), memory_access::read));
  { const auto beside = cache.get(d.at(300, 100), memory_access::read); }
  const bool one_by_one = GENERATE(true, false);
  if (one_by_one)
    cache.forget(std::span<const std::byte>(d.at(99, 52)));  // the last and the first byte of two
  else
    cache.forget_all();
  CHECK(d.live.size() == (one_by_one ? 2 : 3));
  {
    const auto anew = cache.get(d.at(150, 100), memory_access::read);
    CHECK(anew.registration() != used->registration());
    const auto still = cache.get(d.at(300, 100), memory_access::read);
    CHECK(cache.counts().registrations == (one_by_one ? 4 : 5));
  }
  const std::size_t before = d.live.size();
  used.reset();
  CHECK(d.live.size() == before - 1);
}

TEST_CASE("region cache: what the device refuses is tried again without what nobody uses") {
  device d;
  registration_cache cache(d, {registration_caching::on});
  { const auto idle = cache.get(d.at(0, 100), memory_access::read); }
  d.refuse = true;
  CHECK_FALSE(cache.get(d.at(200, 100), memory_access::read));
  CHECK(cache.counts().evictions == 1);
  CHECK(d.live.empty());
  d.refuse = false;
  CHECK(cache.get(d.at(200, 100), memory_access::read));
}

TEST_CASE("region cache: any use, within its bounds, as a simple model has it, and never stale") {
  weft::registration_cache_settings s{registration_caching::bounded, 2000, 12};
  std::mt19937 random(GENERATE(1u, 2u, 3u, 4u, 5u));
  const auto below = [&random](std::size_t n) { return random() % n; };
  device d;
  model expected(s);
  std::uint64_t hits = 0, refusals = 0;
  {
    registration_cache cache(d, s);
    struct held {
      registration_cache::use real;
      model::entry* modelled;
      std::size_t begin, size;
      memory_access how;
    };
    std::vector<held> uses;
    for (int i = 0; i != (WEFT_TEST_SANITIZED ? 4000 : 10'000); ++i) {
      const std::size_t size = 1 + below(below(4) == 0 ? 2100 : 300);
      const std::size_t begin = below(memory_size - size);
      CAPTURE(i, begin, size);
      const auto what = below(10);
      if (what < 5) {
        const memory_access how = below(2) == 0 ? memory_access::read : memory_access::write;
        const std::uint64_t before = cache.counts().registrations;
        bool registered = false;
        model::entry* const modelled = expected.get(begin, size, how, registered);
        registration_cache::use real = cache.get(d.at(begin, size), how);
        REQUIRE(static_cast<bool>(real) == (modelled != nullptr));
        REQUIRE(cache.counts().registrations == before + (registered ? 1 : 0));
        hits += modelled && !registered;
        refusals += !modelled;
        if (real) {
          REQUIRE(d.serves(real.registration(), begin, size, how));
          uses.push_back({std::move(real), modelled, begin, size, how});
        }
      } else if (what < 9) {
        if (uses.empty()) continue;
        const auto it = uses.begin() + static_cast<std::ptrdiff_t>(below(uses.size()));
        expected.release(*it->modelled);
        uses.erase(it);
      } else {
        // Memory in use is not reused.
        const auto meets = [&](const held& h) {
          return begin < h.begin + h.size && h.begin < begin + size;
        };
        if (std::any_of(uses.begin(), uses.end(), meets)) continue;
        expected.forget(begin, size);
        cache.forget(std::span<const std::byte>(d.at(begin, size)));
        d.give_to_somebody_else(begin, size);
      }
      for (const held& h : uses) REQUIRE(d.serves(h.real.registration(), h.begin, h.size, h.how));
      REQUIRE(d.bytes <= s.most_bytes);
      REQUIRE(d.live.size() <= s.most_entries);
      REQUIRE(d.bytes == expected.bytes());
      REQUIRE(d.live.size() == expected.entries());
      REQUIRE(cache.counts().bytes_now == d.bytes);
      REQUIRE(cache.counts().entries_now == d.live.size());
      REQUIRE(cache.counts().evictions == expected.evictions);
    }
    CHECK(hits > 100);
    CHECK(cache.counts().sub_range_hits > 100);
    CHECK(cache.counts().evictions > 100);
    CHECK(refusals > 10);
  }
  CHECK(d.live.empty());
}
