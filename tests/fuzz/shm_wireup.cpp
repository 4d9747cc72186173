// SPDX-License-Identifier: Apache-2.0
// Offers, answers and notes of shared memory, with descriptors of every sort in every place. Each
// is refused with a reason or works, and its use neither blocks nor faults.
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <array>
#include <vector>

#include "target.hpp"
#include "transports/shm/transport.hpp"

namespace weft::fuzz {

namespace {

using namespace transports;
using namespace transports::shm;

class listener final : public frame_sink {
 public:
  bool on_frame(const frame_header& h, const frame_extension*, const std::byte*) noexcept override {
    return h.kind != 0;
  }
  void on_writable() noexcept override {}
  void on_broken(errc) noexcept override {}
};

unique_fd ring_file(std::uint32_t magic) {
  unique_fd file = runtime::make_memory_file("ring", sizeof(ring));
  const runtime::mapping memory = runtime::map_own(file, sizeof(ring));
  auto& r = *static_cast<ring*>(memory.get());
  r.magic = magic;
  r.version = ring_version;
  r.slots_in_ring = slot_count;
  r.bytes_in_bulk = bulk_bytes;
  return file;
}

/// The page of a process that sleeps and wants to be rung.
unique_fd page_file(std::uint32_t asleep, const runtime::wakeup_address& bell) {
  unique_fd file = runtime::make_memory_file("page", 4096);
  const runtime::mapping memory = runtime::map_own(file, 4096);
  auto& page = *new (memory.get()) runtime::doorbell_page{};
  page.magic = runtime::doorbell_page::expected_magic;
  page.has_progress_thread = 1;
  page.caller_bell = page.progress_bell = bell;
  page.asleep.store(asleep);
  page.computing.store(asleep);
  return file;
}

unique_fd unsealed(std::size_t size) {
  unique_fd file(::memfd_create("unsealed", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  check(::ftruncate(file.get(), static_cast<off_t>(size)) == 0, "a file can be made");
  return file;
}

unique_fd pipe_end(bool writing) {
  std::array<int, 2> ends{};
  check(::pipe2(ends.data(), O_CLOEXEC) == 0, "a pipe can be made");
  ::close(ends[writing ? 0 : 1]);
  return unique_fd(ends[writing ? 1 : 0]);
}

unique_fd full_blocking_event() {
  unique_fd fd(::eventfd(0, EFD_CLOEXEC));
  const std::uint64_t most = ~std::uint64_t{1};
  check(::write(fd.get(), &most, sizeof most) == sizeof most, "an event can be saturated");
  return fd;
}

unique_fd descriptor(std::uint8_t which, const runtime::wakeup_receiver& ear) {
  switch (which % 15) {
    case 0:
      return ring_file(ring_magic);
    case 1:
      return page_file(1, ear.address());
    case 2:
      return unique_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    case 3:
      return ring_file(0);
    case 4:
      return page_file(1, {});  // a doorbell whose events no thread reads
    case 5:
      return pipe_end(true);
    case 6:
      return pipe_end(false);
    case 7:
      return full_blocking_event();
    case 8:
      return unique_fd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    case 9:
      return unique_fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    case 10:
      return runtime::make_memory_file("region", 8192);
    case 11: {
      unique_fd file = runtime::make_memory_file("region", 4096);
      runtime::seal_for_readers(file);
      return file;
    }
    case 12:
      return unsealed(sizeof(ring));
    case 13:
      return unsealed(4096);
    default:
      return runtime::make_memory_file("large", std::size_t{1} << 40);
  }
}

/// A context's transport, and its view of one peer.
struct stage {
  runtime::doorbell own_bell{false};
  shm_transport transport{own_bell, copy_method::automatic, 1};
  listener peer;
  runtime::wakeup_receiver their_ear;               // never read
  const counterpart who{0, [](wireup_message) {}};  // process 0: no process's memory is read
  std::unique_ptr<link> way_out;
  bool open = false;

  ~stage() {
    transport.forget(peer);
    way_out.reset();
  }

  wireup_message read_parcel(input& in) const {
    wireup_message p;
    const auto bytes = in.bytes(in.get<std::uint8_t>() % 40u);
    p.bytes.assign(bytes.begin(), bytes.end());
    for (unsigned n = in.get<std::uint8_t>() % (wireup_message::max_fds + 1); n != 0; --n)
      p.fds.push_back(descriptor(in.get<std::uint8_t>(), their_ear));
    return p;
  }

  /// Half of the notes are notes of regions, with most fields right.
  void note(input& with) {
    wireup_message p = read_parcel(with);
    const auto form = with.get<std::uint8_t>();
    if (form % 2 == 0) {
      const region_note said{static_cast<note_kind>(form / 2 % 5), with.get<std::uint8_t>(),
                             static_cast<std::uint16_t>(with.get<std::uint8_t>() % 5),
                             with.get<std::uint8_t>()};
      p.bytes = pack(said).bytes;
    }
    transport.note(peer, std::move(p));
  }

  void send(input& with) {
    std::array<std::byte, 3000> data{};
    const frame_header h{1, with.get<std::uint16_t>() % 3000u, 1, 0, 0};
    way_out->send_contiguous(h, nullptr, data.data());
    way_out->wake_peer();
  }

  void read(input& with) {
    std::array<std::byte, 6000> room{};
    const remote_address from = remote_address::unpack(with.get<std::uint64_t>());
    const std::size_t size = with.get<std::uint16_t>();
    const mutable_buffer into(room.data(), std::min(size, room.size()));
    way_out->prefers_get(from, size);
    if (from.region != 0) way_out->get(scatter({&into, 1}), from, into.size(), 0);
  }

  void step(input& with) {
    switch (with.get<std::uint8_t>() % 6) {
      case 0: {
        wireup_message answer;
        if (transport.accept(peer, who, read_parcel(with), answer).empty())
          check(!answer.fds.empty(), "a taken offer is answered");
        return;
      }
      case 1: {
        if (open) return;
        wireup_message offer;
        way_out = transport.open(peer, who, offer);
        open = way_out->opened(read_parcel(with)).empty();
        if (!open) way_out.reset();
        return;
      }
      case 2:
        return note(with);
      case 3:
        if (open) send(with);
        return;
      case 4:
        if (open) read(with);
        return;
      default:
        transport.poll();
        transport.has_work();
        transport.wake_peer();
        return;
    }
  }
};

}  // namespace

void run(input in) {
  stage s;
  while (!in.empty()) s.step(in);
}

}  // namespace weft::fuzz
