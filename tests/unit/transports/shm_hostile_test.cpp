// SPDX-License-Identifier: Apache-2.0
// A counterpart that hands over invalid descriptors, and keeps writing into all shared memory while
// this side reads and sends. It has its own mappings, as another process would.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>
#include <vector>

#include "support/catch.hpp"
#include "transports/shm/transport.hpp"

using namespace weft::transports;
using namespace weft::transports::shm;
using weft::const_buffer;
using weft::errc;
namespace runtime = weft::runtime;

namespace {

/// The frame sink in place of the protocol layer.
class listener final : public frame_sink {
 public:
  int frames = 0, rooms = 0, ends = 0, after_the_end = 0;
  errc why = errc::ok;
  bool sound = true;
  std::uint64_t sum = 0;

  bool on_frame(const frame_header& h, const frame_extension* x,
                const std::byte* payload) noexcept override {
    ++frames;
    after_the_end += ends;
    const bool announced = (h.flags & has_extension) != 0;
    sound = sound && h.size <= max_payload && announced == (x != nullptr);
    for (std::size_t i = 0; i < h.size; ++i) sum += static_cast<std::uint64_t>(payload[i]);
    return true;
  }
  void on_writable() noexcept override { ++rooms; }
  void on_broken(errc e) noexcept override {
    ++ends;
    why = e;
  }
};

weft::unique_fd filled(std::size_t size, const std::function<void(void*)>& fill) {
  weft::unique_fd file = runtime::make_memory_file("hostile", size);
  fill(runtime::map_own(file, size).get());
  return file;
}

weft::unique_fd good_ring() {
  return filled(sizeof(ring), [](void* at) {
    auto& r = *static_cast<ring*>(at);
    r.magic = ring_magic;
    r.version = ring_version;
    r.slots_in_ring = slot_count;
    r.bytes_in_bulk = bulk_bytes;
  });
}

weft::unique_fd good_page(const runtime::wakeup_address& bell) {
  return filled(4096, [&](void* at) {
    auto& page = *new (at) runtime::doorbell_page{};
    page.magic = runtime::doorbell_page::expected_magic;
    page.has_progress_thread = 1;
    page.caller_bell = page.progress_bell = bell;
  });
}

weft::unique_fd unsealed(std::size_t size) {
  weft::unique_fd file(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  REQUIRE(::ftruncate(file.get(), static_cast<off_t>(size)) == 0);
  return file;
}

/// This side, and in the same process the counterpart's mappings of the shared memory.
struct two_sides {
  runtime::doorbell own_bell{false};
  shm_transport here{own_bell, copy_method::automatic, 1};
  listener peer;
  const counterpart who{0, [](wireup_message) {}};
  runtime::wakeup_receiver their_ear;  // never read
  weft::unique_fd ring_file = good_ring();
  weft::unique_fd page_file = good_page(their_ear.address());
  runtime::mapping ring_memory = runtime::map_own(ring_file, sizeof(ring));
  runtime::mapping page_memory = runtime::map_own(page_file, 4096);
  ring& incoming = *static_cast<ring*>(ring_memory.get());
  runtime::doorbell_page& page = *static_cast<runtime::doorbell_page*>(page_memory.get());
  std::unique_ptr<weft::transports::link> out;
  runtime::mapping outgoing_memory;
  ring* outgoing = nullptr;

  ~two_sides() {
    here.forget(peer);
    out.reset();
  }

  std::string offer(std::vector<weft::unique_fd> fds, std::size_t bytes = sizeof(offer_body)) {
    wireup_message p, answer;
    p.bytes.resize(bytes);
    p.fds = std::move(fds);
    return here.accept(peer, who, std::move(p), answer);
  }
  std::string good_offer() { return offer(pair_of(ring_file, page_file)); }

  static std::vector<weft::unique_fd> pair_of(const weft::unique_fd& a, const weft::unique_fd& b) {
    std::vector<weft::unique_fd> both;
    both.push_back(runtime::duplicate(a.get()));
    both.push_back(runtime::duplicate(b.get()));
    return both;
  }

  std::string open() {
    wireup_message offered, answer;
    out = here.open(peer, who, offered);
    outgoing_memory = runtime::map_own(offered.fds.front(), sizeof(ring));
    outgoing = static_cast<ring*>(outgoing_memory.get());
    answer.fds.push_back(runtime::duplicate(page_file.get()));
    return out->opened(std::move(answer));
  }

  /// A slot as a correct sender would write it.
  void write(std::uint64_t position, frame_header h) {
    slot& s = incoming.slots[position % slot_count];
    s.header = h;
    s.sequence.store(sequence_of(position), std::memory_order_release);
  }

  post send(std::uint32_t size) {
    static const std::vector<std::byte> all(max_payload, std::byte{1});
    return out->send_contiguous({1, size, 1, 0, 0}, nullptr, all.data());
  }
};

/// Writes garbage over some memory while it lives, word by word.
class scribbler {
 public:
  scribbler(unsigned seed, std::function<void(std::mt19937_64&)> scribble)
      : thread_([this, seed, scribble = std::move(scribble)] {
          std::mt19937_64 random(seed);
          do {
            scribble(random);
            begun_.store(true, std::memory_order_relaxed);
          } while (!over_.load(std::memory_order_relaxed));
        }) {
    while (!begun_.load(std::memory_order_relaxed)) std::this_thread::yield();
  }
  ~scribbler() {
    over_.store(true);
    thread_.join();
  }
  scribbler(const scribbler&) = delete;
  scribbler& operator=(const scribbler&) = delete;

 private:
  std::atomic<bool> begun_{false};
  std::atomic<bool> over_{false};
  std::thread thread_;
};

}  // namespace

TEST_CASE("hostile shm: an offer's memory and descriptors are checked, each of them") {
  two_sides s;
  const auto page = [&] { return runtime::duplicate(s.page_file.get()); };
  const auto ring_of = [](std::size_t word) {
    weft::unique_fd file = good_ring();
    const runtime::mapping memory = runtime::map_own(file, sizeof(ring));
    static_cast<std::uint32_t*>(memory.get())[word] ^= 1u << 7;
    return file;
  };
  const auto refuses = [&](weft::unique_fd a, weft::unique_fd b) {
    std::vector<weft::unique_fd> both;
    both.push_back(std::move(a));
    both.push_back(std::move(b));
    return !s.offer(std::move(both)).empty();
  };
  for (std::size_t word = 0; word < 4; ++word) CHECK(refuses(ring_of(word), page()));
  CHECK(refuses(unsealed(sizeof(ring)), page()));
  CHECK(refuses(runtime::make_memory_file("long", sizeof(ring) + 1), page()));
  CHECK(refuses(weft::unique_fd(::open("/dev/zero", O_RDWR | O_CLOEXEC)), page()));
  CHECK(refuses(weft::unique_fd(::eventfd(0, EFD_CLOEXEC)), page()));
  CHECK(refuses(weft::unique_fd(), page()));
  CHECK(s.offer({}).size() > 0);
  CHECK(s.offer(two_sides::pair_of(s.ring_file, s.page_file), sizeof(offer_body) - 1).size() > 0);
  std::vector<weft::unique_fd> three = two_sides::pair_of(s.ring_file, s.page_file);
  three.push_back(page());
  CHECK(s.offer(std::move(three)).size() > 0);
  CHECK(s.good_offer().empty());
  CHECK(s.good_offer() == "there is a ring from that peer already");
}

TEST_CASE("hostile shm: a doorbell page is checked") {
  two_sides s;
  for (auto make :
       {+[] { return unsealed(4096); }, +[] { return runtime::make_memory_file("long", 8192); },
        +[] { return runtime::make_memory_file("not a page", 4096); }}) {
    std::vector<weft::unique_fd> both;
    both.push_back(good_ring());
    both.push_back(make());
    CHECK(s.offer(std::move(both)).size() > 0);
  }
  CHECK(s.good_offer().empty());
}

TEST_CASE("hostile shm: memory of huge pages is refused, which could run out in mid-access") {
  constexpr std::size_t huge = 2u << 20;
  weft::unique_fd file(::memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB));
  if (!file || ::ftruncate(file.get(), huge) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0)
    return;  // this kernel has none
  CHECK_THROWS_AS(runtime::map_from_peer(file, huge, false), weft::error);
}

TEST_CASE("hostile shm: what is shared cannot be made shorter, and holes read as zero") {
  two_sides s;
  REQUIRE(s.good_offer().empty());
  CHECK(::ftruncate(s.ring_file.get(), 0) != 0);
  CHECK(::ftruncate(s.page_file.get(), 0) != 0);
  s.write(0, {1, max_payload, 1, 0, 0});
  REQUIRE(::fallocate(s.ring_file.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 16384,
                      sizeof(ring) - 16384) == 0);
  s.here.poll();
  CHECK(s.peer.frames == 1);
  CHECK(s.peer.sum == 0);
}

TEST_CASE("hostile shm: a payload beyond the limit ends that peer, once") {
  for (const std::uint32_t size : {max_payload + 1, 1u << 31, ~0u}) {
    two_sides s;
    REQUIRE(s.good_offer().empty());
    s.write(0, {1, 8, 1, 0, 0});
    s.write(1, {1, size, 1, 0, 0});
    s.write(2, {1, 8, 1, 0, 0});
    for (int i = 0; i < 10; ++i) s.here.poll();
    CHECK(s.peer.frames == 1);
    CHECK(s.peer.ends == 1);
    CHECK(s.peer.why == errc::protocol_error);
    CHECK_FALSE(s.here.has_work());
  }
}

TEST_CASE("hostile shm: slots that change while they are read") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    two_sides s;
    REQUIRE(s.good_offer().empty());
    std::atomic<std::uint64_t> next{0};
    const scribbler hostile(seed, [&](std::mt19937_64& random) {
      // All slots are valid for the reader's lap and the next one, with headers that keep changing.
      const std::uint64_t at = next.fetch_add(1) % (slot_count * 2);
      const std::uint64_t lap = at / slot_count;
      slot& it = s.incoming.slots[at % slot_count];
      const std::uint64_t r = random();
      // Mostly valid sizes, so that the attack goes on for a while.
      const auto size = static_cast<std::uint32_t>(r % (seed % 3 == 0   ? ~0u
                                                        : seed % 3 == 1 ? max_payload + 1
                                                                        : inline_bytes + 4));
      it.header.size = size;
      it.header.flags = static_cast<std::uint8_t>(r >> 40);
      it.header.kind = static_cast<std::uint8_t>(r >> 48);
      it.sequence.store(static_cast<std::uint32_t>(lap + 1 + (r >> 56) % 3),
                        std::memory_order_relaxed);
      s.incoming.room_wanted.store(static_cast<std::uint32_t>(r));
      s.incoming.slots_read.store(r);
      s.page.asleep.store(static_cast<std::uint32_t>(r), std::memory_order_relaxed);
      s.page.computing.store(static_cast<std::uint32_t>(r >> 1), std::memory_order_relaxed);
    });
    for (int i = 0; i < 3000 && s.peer.ends == 0; ++i) {
      const int before = s.peer.frames;
      s.here.poll();
      CHECK(s.peer.frames - before <= 64);
      s.here.has_work();
    }
    CHECK(s.peer.sound);
    CHECK(s.peer.ends <= 1);
    CHECK(s.peer.after_the_end == 0);
  }
}

TEST_CASE("hostile shm: a sender's counters that lie, also while they are looked at") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    two_sides s;
    REQUIRE(s.open().empty());
    const scribbler hostile(seed, [&](std::mt19937_64& random) {
      const std::uint64_t r = random();
      s.outgoing->slots_read.store(seed % 2 ? r : r % 512, std::memory_order_relaxed);
      s.outgoing->bulk_read.store(seed % 2 ? r >> 7 : r % (1u << 18), std::memory_order_relaxed);
      s.page.asleep.store(static_cast<std::uint32_t>(r), std::memory_order_relaxed);
      s.page.computing.store(static_cast<std::uint32_t>(r), std::memory_order_relaxed);
    });
    for (std::uint32_t i = 0; s.peer.ends == 0; ++i) {  // it must end at some time
      s.send(i * 37 % max_payload);
      if (i % 64 == 0) s.here.poll();
      if (i % 1024 == 0) std::this_thread::yield();
    }
    CHECK(s.peer.ends == 1);
    CHECK(s.peer.why == errc::protocol_error);
  }
}

TEST_CASE("hostile shm: counters that lie are found before a sleep") {
  two_sides s;
  REQUIRE(s.open().empty());
  for (std::uint32_t i = 0; i < slot_count; ++i) REQUIRE(s.send(8) == post::done);
  REQUIRE(s.send(8) == post::busy);
  CHECK_FALSE(s.here.has_work());
  s.outgoing->slots_read.store(~std::uint64_t{0});
  CHECK(s.here.has_work());
  s.here.poll();
  CHECK(s.peer.ends == 1);
  CHECK(s.peer.why == errc::protocol_error);
}

TEST_CASE("hostile shm: a peer that wants to be rung all the time, and never listens") {
  two_sides s;
  REQUIRE(s.open().empty());
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    s.page.asleep.store(2 * i + 1);
    s.page.computing.store(2 * i + 1);
    REQUIRE(s.send(8) == post::done);
    s.out->wake_peer();
    s.outgoing->slots_read.store(i + 1);
    if (i % 128 == 0) s.here.poll();
  }
  CHECK(s.here.bells_rung() >= 10'000);
}

TEST_CASE("hostile shm: regions without number, without end, and without a place to be") {
  peer_regions regions;
  const auto note = [&](std::uint16_t number, weft::unique_fd file, std::uint8_t generation = 0) {
    wireup_message p;
    p.fds.push_back(std::move(file));
    regions.learn({note_kind::shown, generation, number, 0}, std::move(p));
  };
  const auto region = [](std::size_t size) {
    weft::unique_fd file = runtime::make_memory_file("region", size);
    runtime::seal_for_readers(file);
    return file;
  };
  note(0, region(4096));
  CHECK(regions.find({0, 0}, 1) == nullptr);
  note(1, unsealed(4096));
  CHECK(regions.find({1, 0}, 1) == nullptr);
  note(2, weft::unique_fd(::eventfd(0, EFD_CLOEXEC)));
  CHECK(regions.find({2, 0}, 1) == nullptr);
  note(2, runtime::make_memory_file("one whose pages can be taken away", 4096));
  CHECK(regions.find({2, 0}, 1) == nullptr);
  note(3, region(most_shown_bytes + 4096));
  CHECK(regions.find({3, 0}, 1) == nullptr);
  note(4, region(4096));
  CHECK(regions.find({4, 0}, 4096) != nullptr);
  for (const std::uint64_t offset :
       {std::uint64_t{1}, std::uint64_t{4097}, (std::uint64_t{1} << 48) - 1})
    CHECK(regions.find({4, offset}, 4096) == nullptr);
  CHECK(regions.find({4, 8}, ~std::size_t{0}) == nullptr);
  note(5, region(most_shown_bytes - 4096));
  CHECK(regions.find({5, 0}, 1) != nullptr);
  note(6, region(4096));  // the address space that one peer may use is used up
  CHECK(regions.find({6, 0}, 1) == nullptr);
  note(5, region(4096));  // unless the peer takes back its former regions
  note(6, region(4096));
  CHECK(regions.find({6, 0}, 1) != nullptr);
  for (unsigned number = 7; number < 2000; ++number)
    note(static_cast<std::uint16_t>(number), region(4096));
  CHECK(regions.find({1999, 0}, 1) == nullptr);

  // Regions that were taken back make room, and a reused number does not mean the old region.
  regions.learn({note_kind::gone, 1, 7, 0}, {});
  CHECK(regions.find({7, 0}, 1) != nullptr);
  regions.learn({note_kind::gone, 0, 7, 0}, {});
  CHECK(regions.find({7, 0}, 1) == nullptr);
  note(7, region(4096), 1);
  CHECK(regions.find({7, 0}, 1) == nullptr);
  CHECK(regions.find(region_name{7, 1}.at(0), 1) != nullptr);
}
