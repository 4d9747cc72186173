// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/pair.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <new>

#include "runtime/os/foreign_memory.hpp"
#include "runtime/os/membarrier.hpp"
#include "runtime/os/pause.hpp"
#include "transports/shm/transport.hpp"

namespace weft::transports::shm {

namespace {

constexpr std::size_t parts_at_once = 64;

constexpr std::uint64_t largest_shared = std::uint64_t{1} << 46;
constexpr auto usual_chunk_time = std::chrono::microseconds(10);
constexpr auto longest_chunk_time = std::chrono::milliseconds(10);

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

std::unique_ptr<ring_link> pair::open(wireup_message& offer) {
  unique_fd file = runtime::make_memory_file("weft-ring", sizeof(ring));
  auto link = std::make_unique<ring_link>(*this, runtime::map_own(file, sizeof(ring)));
  const offer_body body{reinterpret_cast<std::uintptr_t>(&owner_.probe_word()), owner_.probe_word(),
                        owner_.fences_for_itself() ? 1u : 0u, 0};
  offer.bytes.resize(sizeof body);
  std::memcpy(offer.bytes.data(), &body, sizeof body);
  offer.fds.push_back(std::move(file));
  owner_.add_listener(offer);
  link_ = link.get();
  return link;
}

/// Takes the peer's doorbell from a wire-up message, unless the other direction brought it already.
void pair::learn_doorbell(const wireup_message& p, std::size_t page_fd) {
  if (p.fds.size() != page_fd + 1)
    throw error(errc::protocol_error, "the peer sent a wrong number of descriptors");
  if (doorbell_) return;
  doorbell_ = std::make_unique<runtime::remote_doorbell>(p.fds[page_fd], owner_.rings_peers());
  if (owner_.fences_for_itself()) doorbell_->fence_always();
}

std::string pair::accept(wireup_message offer, wireup_message& answer) {
  offer_body body{};
  if (offer.bytes.size() != sizeof body) return "the offer is not of this version";
  std::memcpy(&body, offer.bytes.data(), sizeof body);
  if (receiver_) return "there is a ring from that peer already";
  try {
    learn_doorbell(offer, 1);
    owner_.add_listener(answer);
    receiver_.emplace(runtime::map_from_peer(offer.fds[0], sizeof(ring), true), frame_sink_,
                      *doorbell_);
  } catch (const error& e) {
    return e.what();
  }
  no_cma_ = runtime::try_foreign_memory(who_.pid, body.probe_address, body.probe_value);
  return {};
}

std::string pair::take_answer(wireup_message answer) {
  try {
    learn_doorbell(answer, 0);
  } catch (const error& e) {
    return e.what();
  }
  return {};
}

preference pair::prefers_get(remote_address from, std::size_t size) const noexcept {
  fetch_facts known;
  known.way = owner_.shm_copy();
  known.told = from.region != 0 ? exposure::region : exposure::address;
  known.mapped = from.region != 0 && peer_regions_.find(from, size) != nullptr;
  known.cma_works = no_cma_.empty();
  known.crowded = owner_.crowded();
  known.sender_computing = doorbell_->computing();
  known.sender_has_progress_thread = doorbell_->has_progress_thread();
  switch (choose_fetch(known).how) {
    case fetch::ask:
      return preference::no;
    case fetch::either:
      return preference::measured;
    default:
      return preference::yes;
  }
}

post pair::get(scatter into, remote_address from, std::size_t size, std::uint64_t cookie) noexcept {
  transfer t{this, into, from, size, cookie};
  if (!receiver_) return post::failed;
  if (from.region != 0 ? !peer_regions_.find(from, size) : !no_cma_.empty()) return post::failed;
  begin_share(t);
  if (size <= slice() && owner_.copies().empty() && (!t.shared || !owner_.in_pass())) {
    if (!(t.shared ? copy_shared(t) : copy_alone(t, size))) return post::failed;
    if (t.left == 0 || ends_soon(t)) return is_still_there() ? post::done : post::failed;
  }
  if (owner_.begin(t)) return post::posted;
  if (t.shared) end_share();
  return post::failed;
}

/// A turn on a crowded host is longer than this copy, and ends when there is nothing more to do.
std::size_t pair::slice() const noexcept {
  return owner_.crowded() ? transfers::slice_when_crowded : transfers::slice;
}

/// The peer may end its send, and use the memory anew, before it learns that this side read there.
bool pair::copy_slice(transfer& t) noexcept {
  const std::size_t size = std::min(t.left, slice());
  if (!t.shared && !begin_share(t)) return copy_alone(t, size);
  return copy_shared(t) && is_still_there();
}

bool pair::copy_alone(transfer& t, std::size_t size) noexcept {
  return (t.from.region != 0 ? copy_region(t, size) : read_foreign(t, size)) && is_still_there();
}

/// What was copied is what the peer's application had there.
bool pair::is_still_there() const noexcept { return receiver_ && !receiver_->withdrawn(); }

bool pair::copy_region(transfer& t, std::size_t size) noexcept {
  const std::byte* at = peer_regions_.find_written(t.from, size);
  if (!at) return false;  // or it was taken back meanwhile: the sender copies
  t.from.offset += size;
  t.left -= size;
  while (size != 0) {
    const mutable_buffer run = t.into.run(size);
    if (run.empty()) return false;
    std::memcpy(run.data(), at, run.size());
    at += run.size();
    size -= run.size();
    t.into.skip(run.size());
  }
  return true;
}

/// Its number may name another process then. One system call for each that copies, which takes a
/// hundred times as long.
bool pair::has_ended() const noexcept {
  pollfd end{who_.process ? who_.process->get() : -1, POLLIN, 0};
  return ::poll(&end, 1, 0) > 0;
}

bool pair::read_foreign(transfer& t, std::size_t size) noexcept {
  if (has_ended()) return lose_cma(ESRCH);
  iovec parts[parts_at_once];
  while (size != 0) {
    std::size_t bytes = 0;
    const std::size_t n = next_parts(t.into, size, parts, bytes);
    if (n == 0) return false;
    iovec remote{reinterpret_cast<void*>(t.from.offset), bytes};
    const ssize_t got = ::process_vm_readv(who_.pid, parts, n, &remote, 1, 0);
    if (got != static_cast<ssize_t>(bytes)) return lose_cma(got < 0 ? errno : EFAULT);
    t.from.offset += bytes;
    t.left -= bytes;
    size -= bytes;
  }
  return true;
}

/// Refused later on (a filter was loaded, the peer is exiting): the protocol asks for the data
/// instead. \return false
bool pair::lose_cma(int error) noexcept {
  try {
    no_cma_ = fmt::format("process_vm_readv: {}", std::strerror(error));
  } catch (const std::bad_alloc&) {
    no_cma_ = "it failed";
  }
  return false;
}

/// \return false: this side copies alone
bool pair::begin_share(transfer& t) noexcept {
  if (t.from.region != 0 || peer_cannot_share_ || owner_.crowded() ||
      t.left < 2 * shared_copy::smallest_chunk || t.left > largest_shared ||
      receiver_->share().is_open())
    return false;
  const mutable_buffer into = t.into.run(t.left);
  if (into.size() != t.left) return false;
  receiver_->share().open(t.from.offset, reinterpret_cast<std::uintptr_t>(into.data()), t.left);
  return t.shared = true;
}

/// Copies chunks of a shared copy, as many as fit a slice. \return false: the data cannot be read
bool pair::copy_shared(transfer& t) noexcept {
  shared_copy_receiver& share = receiver_->share();
  std::byte* const into = t.into.run(t.left).data();
  const std::uint64_t at_once = transfers::slice / shared_copy::chunk_bytes(t.left);
  if (has_ended()) {
    end_share();
    return lose_cma(ESRCH);
  }
  for (std::uint64_t n = 0; n != at_once; ++n) {
    const auto chunk = share.claim();
    if (!chunk) break;
    const int error = runtime::read_foreign(who_.pid, into + chunk->offset,
                                            t.from.offset + chunk->offset, chunk->bytes);
    if (error != 0) {
      end_share();
      return lose_cma(error);
    }
  }
  note_progress(t);
  return true;
}

void pair::note_progress(transfer& t) noexcept {
  switch (receiver_->share().now()) {
    case shared_copy_receiver::progress::under_way:
      break;
    case shared_copy_receiver::progress::whole:
      receiver_->share().close();
      t.left = 0;
      break;
    case shared_copy_receiver::progress::broken:
      end_share();
      peer_cannot_share_ = true;
      t.shared = false;  // this side copies all of it, from the beginning
  }
}

/// Waits for what the peer is writing, as long as a chunk takes. \return whether that was all
bool pair::ends_soon(transfer& t) noexcept {
  const auto limit = std::chrono::steady_clock::now() + usual_chunk_time;
  while (t.shared && t.left != 0 && std::chrono::steady_clock::now() < limit) {
    runtime::cpu_pause();
    note_progress(t);
  }
  return t.left == 0;
}

/// A chunk that the peer is writing takes microseconds, unless the peer was stopped in the middle
/// of it, or has died.
void pair::end_share() noexcept {
  if (!receiver_ || !receiver_->share().is_open() || !receiver_->share().close()) return;
  const auto limit = std::chrono::steady_clock::now() + longest_chunk_time;
  while (receiver_->share().is_writing() && std::chrono::steady_clock::now() < limit)
    runtime::cpu_pause();
}

bool pair::write(std::uint64_t to, std::uint64_t from, std::size_t size) const noexcept {
  return !has_ended() &&
         runtime::write_foreign(who_.pid, to, reinterpret_cast<const void*>(from), size) == 0;
}

/// Only of a region: an address in the peer's process says nothing here.
peer_view pair::view(remote_address from, std::size_t size) noexcept {
  if (from.region == 0) return {};
  const peer_view there = peer_regions_.view(from, size);
  return there.at && is_still_there() ? there : peer_view{};
}

std::optional<remote_address> pair::expose(const_buffer data) noexcept {
  const copy_method way = owner_.shm_copy();
  own_regions& regions = owner_.regions();
  if (choose_exposure(way, regions.find(data) != nullptr) == exposure::region) {
    try {
      if (const auto at = shown_regions_.expose(data, regions, who_.tell)) return at;
    } catch (const std::exception&) {
      // No memory or descriptor to show it.
    }
  }
  if (choose_exposure(way, false) == exposure::nothing) return {};
  return remote_address{0, reinterpret_cast<std::uintptr_t>(data.data())};
}

bool pair::pass(const unique_fd& file, std::uint32_t what) noexcept {
  unique_fd copy(::fcntl(file.get(), F_DUPFD_CLOEXEC, 0));
  if (!copy) return false;
  try {
    wireup_message p = pack({note_kind::passed, 0, 0, what});
    p.fds.push_back(std::move(copy));
    who_.tell(std::move(p));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void pair::note(wireup_message p) noexcept {
  region_note note;
  if (p.bytes.size() != sizeof note) return;
  std::memcpy(&note, p.bytes.data(), sizeof note);
  switch (note.kind) {
    case note_kind::passed:
      if (p.fds.size() == 1) frame_sink_.on_descriptor(std::move(p.fds[0]), note.count);
      return;
    case note_kind::taken:
      return shown_regions_.taken(note.count, who_.tell);
    case note_kind::shown:
    case note_kind::gone:
      peer_regions_.learn(note, std::move(p));
      break;
    default:
      return;
  }
  if (const auto count = peer_regions_.to_tell()) try {
      who_.tell(pack({note_kind::taken, 0, 0, *count}));
    } catch (const std::exception&) {
      // The next note carries the count, too.
    }
}

std::string pair::describe() const {
  return fmt::format("cma {}", no_cma_.empty() ? "works" : "off: " + no_cma_);
}

}  // namespace weft::transports::shm
