// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/objects/domain.hpp"

#include <random>
#include <stdexcept>

#include "bindings/mpi/ranks_here.hpp"
#include "bindings/ofi/endpoint/endpoint.hpp"
#include "bindings/ofi/endpoint/scalable_endpoint.hpp"
#include "bindings/ofi/objects/address_vector.hpp"
#include "bindings/ofi/objects/attributes.hpp"
#include "bindings/ofi/objects/completion_queue.hpp"
#include "bindings/ofi/objects/counter.hpp"
#include "bindings/ofi/objects/memory_region.hpp"

namespace weft::ofi {

namespace {

/// Where all cores are busy, the handshake costs no waiting, and eager data is copied twice.
constexpr std::size_t eager_limit_when_crowded = 32 * 1024;

}  // namespace

fi_ops_domain domain::domain_ops{
    .size = sizeof(fi_ops_domain),
    .av_open = &address_vector::open,
    .cq_open = &completion_queue::open,
    .endpoint = &endpoint::open,
    .scalable_ep = &scalable_endpoint::open,
    .cntr_open = &counter::open,
    .poll_open = no,
    .stx_ctx = no,
    .srx_ctx = no,
    .query_atomic = &query_atomic,
    .query_collective = no,
    .endpoint2 =
        [](fid_domain* of, fi_info* info, fid_ep** made, std::uint64_t flags, void* context) {
          return flags != 0 ? -FI_EBADFLAGS : endpoint::open(of, info, made, context);
        },
};

domain::domain(fabric& of, const fi_info& info, void* context) noexcept
    : fid_domain{{FI_CLASS_DOMAIN, context, &only_closes<domain, fid_domain>},
                 &domain_ops,
                 &memory_region::domain_ops},
      fabric_(of),
      manual_progress_(info.domain_attr && is_manual(info.domain_attr->data_progress)),
      accesses_((info.caps & (FI_RMA | FI_ATOMIC)) != 0),
      names_(naming_of(info.domain_attr ? info.domain_attr->mr_mode : 0)) {
  fabric_.used.add();
}

domain::~domain() { fabric_.used.remove(); }

int domain::open(fid_fabric* of, fi_info* info, fid_domain** made, void* context) noexcept {
  return guarded([&] {
    *made = new domain(object<fabric>(of), *info, context);
    return 0;
  });
}

void domain::add(endpoint& e) {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, m] : regions_) m->show_to_peers_of(e);
  endpoints_.push_back(&e);
}

void domain::remove(endpoint& e) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(endpoints_, &e);
  for (const auto& [key, m] : regions_) m->leave_to(e);
}

void domain::forget(std::span<const std::byte> memory) noexcept {
  const std::lock_guard lock(mutex_);
  for (endpoint* e : endpoints_) e->here().invalidate_registrations(memory);
  for (context* c : shared_) c->invalidate_registrations(memory);
}

void domain::add(context& shared) {
  const std::lock_guard lock(mutex_);
  shared_.push_back(&shared);
}

void domain::remove(context& shared) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(shared_, &shared);
}

bool domain::add(memory_region& m) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = regions_.try_emplace(m.key, &m);
  if (!is_new) return false;
  try {
    for (endpoint* e : endpoints_) m.show_to_peers_of(*e);
  } catch (...) {
    regions_.erase(place);
    throw;
  }
  return true;
}

/// No endpoint may be closed meanwhile.
void domain::remove(memory_region& m) noexcept {
  const std::lock_guard lock(mutex_);
  m.hide();
  const auto found = regions_.find(m.key);
  if (found != regions_.end() && found->second == &m) regions_.erase(found);
}

std::uint64_t domain::draw_key() {
  const std::lock_guard lock(mutex_);
  try {
    std::random_device dice;
    for (;;) {
      // 64 bits that peers cannot guess; the last two values are no valid keys, for libfabric or
      // for weft.
      const std::uint64_t key = std::uint64_t{dice()} << 32 | dice();
      if (key < FI_KEY_NOTAVAIL - 1 && !regions_.contains(key)) return key;
    }
  } catch (const std::runtime_error&) {
    throw error(errc::system, "the kernel has no random number for the key of a memory region");
  }
}

options domain::chosen() const {
  options o;
  // Completions in a ring interrupt the thread that the ring belongs to: in another program that
  // would interrupt system calls that were never interrupted before (those of sockets with a
  // time-out are not restarted).
  o.wait_set = "epoll";
  const unsigned processes = mpi::ranks_here();
  if (mpi::are_crowded(processes)) o.eager_limit = eager_limit_when_crowded;
  if (manual_progress_) o.progress = progress_mode::polling;
  o = options::from_environment(std::move(o));
  o.standalone = true;
  o.lanes = 1;  // an endpoint is a context that shares nothing; a scalable one has lanes
  o.hashed_tag_bits = hashed_tag_bits;
  o.processes_per_host = processes;
  return o;
}

}  // namespace weft::ofi
