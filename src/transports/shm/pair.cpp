// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/pair.hpp"

#include <fmt/format.h>
#include <sys/uio.h>

#include <cerrno>

#include "runtime/foreign_memory.hpp"
#include "runtime/membarrier.hpp"
#include "transports/shm/transport.hpp"

namespace weft::transports::shm {

namespace {

constexpr std::size_t parts_at_once = 64;

/// Splits a scatter list into iovecs, as many as one call takes.
std::size_t next_parts(scatter& into, std::size_t size, iovec (&parts)[parts_at_once],
                       std::size_t& bytes) noexcept {
  std::size_t n = 0;
  for (bytes = 0; n != parts_at_once && bytes != size; ++n) {
    const mutable_buffer run = into.run(size - bytes);
    if (run.empty()) break;
    parts[n] = {run.data(), run.size()};
    bytes += run.size();
    into.skip(run.size());
  }
  return n;
}

}  // namespace

std::unique_ptr<ring_link> pair::open(parcel& offer) {
  runtime::unique_fd file = runtime::make_memory_file("weft-ring", sizeof(ring));
  auto link = std::make_unique<ring_link>(*this, runtime::map_own(file, sizeof(ring)));
  const offer_body body{reinterpret_cast<std::uintptr_t>(&owner_.probe_word()), owner_.probe_word(),
                        owner_.fences_for_itself() ? 1u : 0u, 0};
  offer.bytes.resize(sizeof body);
  std::memcpy(offer.bytes.data(), &body, sizeof body);
  offer.fds.push_back(std::move(file));
  owner_.add_door(offer);
  link_ = link.get();
  return link;
}

/// Takes the peer's doorbell from a parcel, unless the other direction brought it already.
void pair::learn_door(const parcel& p, std::size_t page_fd) {
  if (p.fds.size() != page_fd + 1)
    throw error(errc::protocol_error, "the peer sent a wrong number of descriptors");
  if (door_) return;
  door_ = std::make_unique<runtime::remote_doorbell>(p.fds[page_fd]);
  if (owner_.fences_for_itself()) door_->fence_always();
}

std::string pair::accept(parcel offer, parcel& answer) {
  offer_body body{};
  if (offer.bytes.size() != sizeof body) return "the offer is not of this version";
  std::memcpy(&body, offer.bytes.data(), sizeof body);
  if (port_) return "there is a ring from that peer already";
  try {
    learn_door(offer, 1);
    owner_.add_door(answer);
    port_.emplace(runtime::map_from_peer(offer.fds[0], sizeof(ring), true), peer_, *door_);
  } catch (const error& e) {
    return e.what();
  }
  no_cma_ = runtime::try_foreign_memory(who_.pid, body.probe_address, body.probe_value);
  return {};
}

std::string pair::take_answer(parcel answer) {
  try {
    learn_door(answer, 0);
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

bool pair::prefers_get(remote_address from, std::size_t size) const noexcept {
  fetch_facts known;
  known.way = owner_.large_messages();
  known.told = from.region != 0 ? exposure::region : exposure::address;
  known.mapped = from.region != 0 && peer_regions_.find(from, size) != nullptr;
  known.cma_works = no_cma_.empty();
  known.sender_away = door_->away();
  known.sender_has_progress_thread = door_->has_progress_thread();
  return choose_fetch(known).how != fetch::ask;
}

/// The peer may end its send, and use the memory anew, before it hears that this side read there.
post pair::get(scatter into, remote_address from, std::size_t size) noexcept {
  const post answer = read(into, from, size);
  return answer == post::done && (!port_ || port_->withdrawn()) ? post::failed : answer;
}

post pair::read(scatter into, remote_address from, std::size_t size) noexcept {
  if (from.region != 0) {
    const std::byte* at = peer_regions_.find(from, size);
    if (!at) return post::failed;
    while (size != 0) {
      const mutable_buffer run = into.run(size);
      if (run.empty()) break;
      std::memcpy(run.data(), at, run.size());
      at += run.size();
      size -= run.size();
      into.skip(run.size());
    }
    return post::done;
  }
  std::uint64_t address = from.offset;
  iovec parts[parts_at_once];
  while (size != 0) {
    std::size_t bytes = 0;
    const std::size_t n = next_parts(into, size, parts, bytes);
    if (n == 0) break;
    iovec remote{reinterpret_cast<void*>(address), bytes};
    const ssize_t got = ::process_vm_readv(who_.pid, parts, n, &remote, 1, 0);
    if (got != static_cast<ssize_t>(bytes)) {
      // Refused in mid-life (a filter was loaded, the peer is going): ask for the data instead.
      no_cma_ = fmt::format("process_vm_readv: {}", got < 0 ? std::strerror(errno) : "short read");
      return post::failed;
    }
    address += bytes;
    size -= bytes;
  }
  return post::done;
}

std::optional<remote_address> pair::expose(const_buffer data) noexcept {
  const large_way way = owner_.large_messages();
  own_regions& regions = owner_.regions();
  const auto at = regions.find(data);
  if (choose_exposure(way, at.has_value()) == exposure::region) {
    try {
      if (shown_regions_ != regions.generation()) {
        for (const std::uint16_t number : regions.numbers())
          if (number >= shown_regions_) who_.tell(regions.note_of(number));
        shown_regions_ = regions.generation();
      }
      return at;
    } catch (const std::exception&) {
      // No memory or descriptor for showing it.
    }
  }
  if (choose_exposure(way, false) == exposure::nothing) return {};
  return remote_address{0, reinterpret_cast<std::uintptr_t>(data.data())};
}

std::string pair::describe() const {
  return fmt::format("cma {}", no_cma_.empty() ? "works" : "off: " + no_cma_);
}

}  // namespace weft::transports::shm
