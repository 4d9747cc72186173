// SPDX-License-Identifier: Apache-2.0
// Memory of weft's allocator between two transports: shown, copied in slices, and taken back.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <vector>

#include "shm_two.hpp"
#include "support/catch.hpp"
#include "support/descriptors.hpp"
#include "support/foreign_memory.hpp"

using weft::tests::open_descriptors;

namespace {

std::size_t mappings() {
  std::FILE* const f = std::fopen("/proc/self/maps", "re");
  std::size_t lines = 0;
  for (int c = std::fgetc(f); c != EOF; c = std::fgetc(f)) lines += c == '\n' ? 1 : 0;
  std::fclose(f);
  return lines;
}

}  // namespace

// A former defect: the direct method ended after 1024 regions without a message, allocation after
// 65534, and the peer kept all of them.
void check_for_ever(int times) {
  two t;
  std::size_t fds = 0, maps = 0;
  for (int n = 0; n != times; ++n) {
    const std::span<std::byte> memory = t.a.transport.regions().allocate(page);
    memory[0] = static_cast<std::byte>(n);
    const auto at = t.a.out->expose(memory);
    REQUIRE(at);
    REQUIRE(at->region != 0);
    t.take_notes();
    std::byte seen{};
    const mutable_buffer into(&seen, 1);
    REQUIRE(t.b.out->prefers_get(*at, 1) == preference::yes);
    REQUIRE(t.b.out->get(scatter({&into, 1}), *at, 1, 1) == post::done);
    REQUIRE(seen == static_cast<std::byte>(n));
    t.a.transport.deallocate(memory);
    t.take_notes();
    REQUIRE(t.b.out->prefers_get(*at, 1) == preference::no);
    if (n == 100) fds = open_descriptors(), maps = mappings();
  }
  CHECK(open_descriptors() <= fds);
  CHECK(mappings() <= maps + 2);
}

TEST_CASE("shm regions: allocating, sending and freeing goes on for ever, and nothing grows") {
  check_for_ever(3000);
}

TEST_CASE("shm regions: the same 200,000 times", "[.soak]") { check_for_ever(200'000); }

TEST_CASE("shm regions: a receiver reads no page that its sender has not written") {
  two t;
  const std::span<std::byte> memory = t.a.transport.regions().allocate(3 * page);
  const int file = t.a.transport.regions().find(memory)->second.file.get();
  const auto pages = [file] {
    struct stat is {};
    REQUIRE(::fstat(file, &is) == 0);
    return static_cast<std::size_t>(is.st_blocks) * 512 / page;
  };
  std::vector<std::byte> in(memory.size());
  std::uint64_t cookie = 0;
  const auto get = [&](std::size_t from, std::size_t size) {
    const auto at = t.a.out->expose(memory.subspan(from, size));
    t.take_notes();
    const mutable_buffer into(in.data(), size);
    return t.b.out->get(scatter({&into, 1}), *at, size, ++cookie);
  };
  memory[page] = std::byte{1};
  CHECK(get(page, page) == post::done);
  CHECK(in[0] == std::byte{1});
  CHECK(get(page + 8, page - 8) == post::done);
  CHECK(get(0, page) == post::failed);
  CHECK(get(page, page + 1) == post::failed);
  CHECK(get(0, 3 * page) == post::failed);
  CHECK(pages() == 1);
  memory[0] = memory[2 * page] = std::byte{2};
  CHECK(get(0, 3 * page) == post::done);
  CHECK(in[2 * page] == std::byte{2});
}

TEST_CASE("shm regions: numbers are used again, with another generation", "[many]") {
  own_regions all;
  const auto kept = all.allocate(page);
  const region_name first = all.find(kept)->second.name;
  CHECK(first.number == 1);
  region_name last;
  for (int n = 0; n != 65'540; ++n) {
    const auto memory = all.allocate(page);
    const region_name next = all.find(memory)->second.name;
    if (next.number == first.number || next.number == 0) FAIL("the number of one that lives");
    last = next;
    all.free(memory);
  }
  CHECK(last.number == 7);
  CHECK(last.generation == 1);
}

TEST_CASE("shm regions: more of them than a peer maps are shown in turns") {
  two t;
  std::vector<std::span<std::byte>> all;
  for (std::size_t n = 0; n != most_shown_regions + 100; ++n)
    all.push_back(t.a.transport.regions().allocate(page));
  for (int round = 0; round != 2; ++round)
    for (const auto& memory : all) {
      auto at = t.a.out->expose(memory);
      t.take_notes();
      if (!at || at->region == 0) at = t.a.out->expose(memory);  // too many notes were waiting
      t.take_notes();
      REQUIRE(at);
      REQUIRE(at->region != 0);
      REQUIRE(t.b.out->prefers_get(*at, page) == preference::yes);
    }
}

TEST_CASE("shm regions: a peer that takes no notes is sent a few, and goes without") {
  two t(copy_method::direct);
  std::vector<std::span<std::byte>> all;
  for (std::size_t n = 0; n != 500; ++n) {
    all.push_back(t.a.transport.regions().allocate(page));
    t.a.out->expose(all.back());
  }
  CHECK(t.b.notes.size() == shown_regions::most_notes_ahead);
  CHECK_FALSE(t.a.out->expose(all.back()));
  for (const auto& memory : all) t.a.transport.deallocate(memory);
  CHECK(t.b.notes.size() == shown_regions::most_notes_ahead);
  // Once it takes them, it learns also which regions are gone by then.
  t.take_notes();
  const auto fresh = t.a.transport.regions().allocate(page);
  const auto at = t.a.out->expose(fresh);
  REQUIRE(at);
  t.take_notes();
  CHECK(t.b.out->prefers_get(*at, page) == preference::yes);
  for (std::uint16_t number = 1; number != 501; ++number)
    CHECK(t.b.out->prefers_get(region_name{number, 0}.at(0), 1) == preference::no);
}

TEST_CASE("shm regions: what a peer says that it took, and did not, changes nothing") {
  two t(copy_method::direct);
  for (int n = 0; n != 500; ++n) t.a.out->expose(t.a.transport.regions().allocate(page));
  for (const std::uint32_t count : {65u, 1u << 20, ~0u})
    t.a.transport.note(t.a.peer, pack({note_kind::taken, 0, 0, count}));
  t.a.out->expose(t.a.transport.regions().allocate(page));
  CHECK(t.b.notes.size() == shown_regions::most_notes_ahead);
}

TEST_CASE("shm transfers: what is long is copied in slices, side by side with messages") {
  if (weft::tests::skipped_without_cma()) return;
  const bool direct = GENERATE(true, false);
  two t(direct ? copy_method::direct : copy_method::cma);
  constexpr std::size_t size = 8 * transfers::slice + 5;
  const std::span<std::byte> from = t.a.transport.regions().allocate(size);
  for (std::size_t i = 0; i != size; ++i) from[i] = static_cast<std::byte>(i % 251);
  std::vector<std::byte> into(size);
  const mutable_buffer parts[] = {std::span(into).first(1000), std::span(into).subspan(1000)};
  const auto at = t.a.out->expose(from);
  t.take_notes();
  REQUIRE(at);
  CHECK((at->region != 0) == direct);
  REQUIRE(t.b.out->get(scatter(parts), *at, size, 9) == post::posted);
  CHECK(t.b.transport.busy);
  CHECK(t.b.transport.has_work());
  SECTION("to its end") {
    int passes = 0;
    for (; t.b.peer.transferred.empty(); ++passes) {
      REQUIRE(t.a.out->send_contiguous({1, 0, 1, 0, 0}, nullptr, nullptr) == post::done);
      t.b.transport.poll();
      CHECK(t.b.peer.frames == passes + 1);
    }
    CHECK(passes == 9);
    CHECK(t.b.peer.transferred.at(9));
    CHECK(std::equal(into.begin(), into.end(), from.begin()));
    CHECK_FALSE(t.b.transport.busy);
  }
  SECTION("until its sender has its memory back") {
    t.b.transport.poll();
    t.a.out->let_go();
    while (t.b.peer.transferred.empty()) t.b.transport.poll();
    CHECK_FALSE(t.b.peer.transferred.at(9));
  }
  SECTION("until the region is gone") {
    t.b.transport.poll();
    t.a.transport.deallocate(from);
    t.take_notes();
    while (t.b.peer.transferred.empty()) t.b.transport.poll();
    CHECK_FALSE(t.b.peer.transferred.at(9));
  }
  SECTION("until this side lets go: nothing is written there any more") {
    t.b.transport.poll();
    t.b.out->let_go();
    std::fill(into.begin(), into.end(), std::byte{0xff});
    for (int i = 0; i != 10; ++i) t.b.transport.poll();
    CHECK(t.b.peer.transferred.empty());
    CHECK(std::count(into.begin(), into.end(), std::byte{0xff}) == static_cast<long>(size));
  }
  SECTION("until the peer is gone") {
    t.b.transport.poll();
    t.b.transport.forget(t.b.peer);
    std::fill(into.begin(), into.end(), std::byte{0xff});
    for (int i = 0; i != 10; ++i) t.b.transport.poll();
    CHECK(t.b.peer.transferred.empty());
    CHECK(std::count(into.begin(), into.end(), std::byte{0xff}) == static_cast<long>(size));
  }
}

// One call of the kernel copies 2 GiB at most. The source is never touched, and all parts of the
// destination are the same memory, so the test needs none.
TEST_CASE("shm transfers: the kernel copies more than 2 GiB", "[.soak]") {
  two t(copy_method::cma);
  constexpr std::size_t part = std::size_t{64} << 20, parts = 34, size = part * parts;
  const runtime::mapping from(
      ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0), size);
  REQUIRE(from.get() != MAP_FAILED);
  std::vector<std::byte> into(part, std::byte{1});
  const std::vector<mutable_buffer> many(parts, mutable_buffer(into));
  const auto at = t.a.out->expose({static_cast<const std::byte*>(from.get()), size});
  REQUIRE(at);
  REQUIRE(t.b.out->get(scatter(many), *at, size, 3) == post::posted);
  while (t.b.peer.transferred.empty()) t.b.transport.poll();
  CHECK(t.b.peer.transferred.at(3));
  CHECK(into.back() == std::byte{0});
}

TEST_CASE("shm regions: a view reads in place, only what is there and written") {
  two t;
  const std::span<std::byte> memory = t.a.transport.regions().allocate(4 * page);
  memory[0] = memory[page] = std::byte{7};
  const auto at = t.a.out->expose(memory);
  REQUIRE(at);
  CHECK(t.b.out->view(*at, page).at == nullptr);  // not shown yet
  t.take_notes();
  const peer_view seen = t.b.out->view(*at, 2 * page);
  REQUIRE(seen.at);
  CHECK(seen.at[page] == std::byte{7});
  memory[page] = std::byte{8};
  CHECK(seen.at[page] == std::byte{8});
  CHECK(t.b.out->view({at->region, at->offset + page}, page).at == seen.at + page);

  CHECK(t.b.out->view(*at, 2 * page + 1).at == nullptr);  // a page that was never written
  memory[2 * page] = memory[3 * page] = std::byte{9};
  CHECK(t.b.out->view(*at, 4 * page).at);
  CHECK(t.b.out->view(*at, 4 * page + 1).at == nullptr);
  CHECK(t.b.out->view({at->region, at->offset + 4 * page + 1}, 0).at == nullptr);
  CHECK(t.b.out->view({at->region, at->offset + page}, ~std::size_t{0}).at == nullptr);
  CHECK(t.b.out->view({static_cast<std::uint16_t>(at->region + 1), at->offset}, 1).at == nullptr);
  CHECK(t.b.out->view({0, reinterpret_cast<std::uintptr_t>(memory.data())}, 1).at == nullptr);
}

TEST_CASE("shm regions: what is kept stays mapped when the peer takes it back") {
  std::shared_ptr<const void> kept;
  const std::byte* there = nullptr;
  {
    two t;
    const std::span<std::byte> memory = t.a.transport.regions().allocate(page);
    memory[5] = std::byte{7};
    const auto at = t.a.out->expose(memory);
    t.take_notes();
    const peer_view seen = t.b.out->view(*at, page);
    REQUIRE(seen.at);
    kept = *seen.keeps;
    there = seen.at;
    t.a.transport.deallocate(memory);
    t.take_notes();
    CHECK(t.b.out->view(*at, page).at == nullptr);
    CHECK(there[5] == std::byte{7});
  }
  CHECK(there[5] == std::byte{7});
}
