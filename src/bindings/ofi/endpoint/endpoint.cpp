// SPDX-License-Identifier: Apache-2.0
// An endpoint's life: made, bound, enabled, closed. Its operations are in endpoint_messages.cpp,
// endpoint_rma.cpp and endpoint_atomics.cpp.
#include "bindings/ofi/endpoint/endpoint.hpp"

#include <rdma/fi_cm.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "bindings/ofi/endpoint/scalable_endpoint.hpp"

namespace weft::ofi {

fi_ops endpoint::object_ops{
    .size = sizeof(fi_ops),
    .close = &endpoint::close,
    .bind = &endpoint::bind,
    .control = &endpoint::control,
    .ops_open = no,
    .tostr = no,
    .ops_set = no,
};

fi_ops_ep endpoint::ep_ops{
    .size = sizeof(fi_ops_ep),
    .cancel = &endpoint::cancel,
    .getopt = &endpoint::get_option,
    .setopt = &endpoint::set_option,
    .tx_ctx = no,
    .rx_ctx = no,
    .rx_size_left = no,
    .tx_size_left = no,
};

fi_ops_cm endpoint::cm_ops = only_names(&endpoint::get_name);

endpoint::endpoint(domain& of, const endpoint_facts& facts, void* context, const sep_context& its)
    : fid_ep{{its.fid_class, context, &object_ops},
             &ep_ops,
             &cm_ops,
             &msg_ops,
             &rma_ops,
             &tagged_ops,
             &atomic_ops,
             nullptr},
      domain_(of),
      caps_(facts.caps),
      directed_((facts.caps & FI_DIRECTED_RECV) != 0),
      send_flags_(facts.send_flags),
      receive_flags_(facts.receive_flags),
      part_(its) {
  domain_.used.add();
  if (part_.whole) part_.whole->used.add();
}

endpoint::~endpoint() {
  if (own_lane_) finish_sends(std::chrono::steady_clock::now() + linger_);
  if (!part_.whole) detach();
  claims_.clear();
  own_lane_.reset();
  own_context_.reset();  // ends operations in flight; no thread reads their ends any more
}

void endpoint::finish_sends(std::chrono::steady_clock::time_point until) noexcept {
  if (!external_loop_ || context_->is_inherited()) return;
  const int done = guarded([&] {
    const auto over = [](void* e) { return static_cast<endpoint*>(e)->sending_ == 0; };
    return external_loop_->wait(until, over, this) ? 0 : -FI_ETIMEDOUT;
  });
  if (done != 0)
    warn(
        "an endpoint is closed before all that was sent by it has left: WEFT_LINGER is the time, "
        "in "
        "milliseconds, for which fi_close waits");
}

/// Leaves the objects that it was bound to: no end is reported any more.
void endpoint::detach() noexcept {
  bound_.detach(external_loop_);
  if (names_) names_->used.remove();
  if (own_context_) domain_.remove(*this);
  domain_.used.remove();
}

int endpoint::open(fid_domain* of, fi_info* info, fid_ep** made, void* context) noexcept {
  return guarded([&] {
    *made = new endpoint(object<domain>(of), endpoint_facts::of(*info), context);
    return 0;
  });
}

/// A part of a scalable endpoint has operations in flight in a context that goes on.
int endpoint::close(fid_t f) noexcept {
  endpoint& self = object_of<endpoint, fid_ep>(f);
  scalable_endpoint* const whole = self.part_.whole;
  if (!whole) return ofi::close(self);
  if (self.used.any()) return -FI_EBUSY;
  self.withdraw_receives();
  self.detach();
  if (self.external_loop_) {
    const external_loop::progress_guard hold(*self.external_loop_);
    self.bound_.forget();
  }
  whole->keep(std::unique_ptr<endpoint>(&self));
  whole->used.remove();
  return 0;
}

/// Those that no message has matched take none from receives that are posted later.
void endpoint::withdraw_receives() noexcept {
  if (!external_loop_) return;
  guarded([&] {
    std::vector<record*> all;
    {
      const external_loop::progress_guard hold(*external_loop_);
      closed_ = true;
      for (record* r = in_flight_.first(); r; r = r->after) all.push_back(r);
      for (record* r : all) r->pinned = true;  // as in cancel
    }
    for (record* r : all) external_loop_->withdraw(receive_record::of(*r));
    external_loop::progress_guard hold(*external_loop_);
    hold.poll();
    for (record* r : all) unpin(*r);
    return 0;
  });
}

/// An endpoint that is enabled takes counters, too: fi_endpoint(3) asks programs to bind them
/// before, but Sandia OpenSHMEM does it later, and libfabric's own providers allow that.
int endpoint::bind(fid_t f, fid_t to, std::uint64_t flags) noexcept {
  endpoint& self = object_of<endpoint, fid_ep>(f);
  if (self.context_ && to->fclass != FI_CLASS_CNTR) return -FI_EOPBADSTATE;
  switch (to->fclass) {
    case FI_CLASS_AV:
      if (self.names_ || self.part_.whole) return -FI_EINVAL;
      self.names_ = &object_of<address_vector, fid_av>(to);
      self.names_->used.add();
      return 0;
    case FI_CLASS_CQ:
      return self.bound_.bind(object_of<completion_queue, fid_cq>(to), flags);
    case FI_CLASS_CNTR:
      // An endpoint without access has nothing to count; accesses by peers cannot be counted.
      if (self.accesses() && (flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0)
        return -FI_EOPNOTSUPP;
      return guarded([&] {
        return self.bound_.bind(object_of<counter, fid_cntr>(to), flags, self.external_loop_);
      });
    case FI_CLASS_EQ:
      return 0;  // there are no events for it
    default:
      return -FI_EINVAL;
  }
}

int endpoint::control(fid_t f, int command, void* /*argument*/) noexcept {
  if (command != FI_ENABLE) return -FI_ENOSYS;
  return guarded([&] { return object_of<endpoint, fid_ep>(f).enable(); });
}

/// The thread that enables it is its home thread (weft/external_loop.hpp): it should be the thread
/// that uses it most.
int endpoint::enable() {
  if (context_) return -FI_EOPBADSTATE;
  if (!names_ && !part_.whole) return -FI_ENOAV;
  if (!bound_.any()) return -FI_ENOCQ;
  lane& at = part_.whole ? part_.whole->at(part_.number) : own_lane();
  context_ = &at.context;
  peers_ = &at.peers;
  external_loop_ = &at.loop;
  bound_.enable(*external_loop_);
  if (own_context_) domain_.add(*this);
  if (part_.number == 0 && fid.fclass != FI_CLASS_TX_CTX) announce();
  return 0;
}

lane& endpoint::own_lane() {
  const options chosen = domain_.chosen();
  linger_ = chosen.linger;
  own_context_.emplace(chosen);
  return own_lane_.emplace(*own_context_, *names_);
}

/// Tells people that weft is in use: once in a job, on request.
void endpoint::announce() const {
  const char* const wanted = std::getenv("WEFT_OFI_ANNOUNCE");
  if (!wanted || std::strcmp(wanted, "1") != 0) return;
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* number = std::getenv(rank); number && std::strcmp(number, "0") != 0) return;
  std::string ways;
  const options o = domain_.chosen();
  for (const std::string& name : o.transports) ways += (ways.empty() ? "" : ", ") + name;
  std::fprintf(stderr, "weft: MPI runs on weft (%s; progress %s)\n", ways.c_str(),
               o.progress == progress_mode::dedicated   ? "dedicated"
               : o.progress == progress_mode::polling   ? "polling"
               : o.progress == progress_mode::interrupt ? "interrupt"
                                                        : "two_threads");
}

int endpoint::get_name(fid_t f, void* address, std::size_t* size) noexcept {
  endpoint& self = object_of<endpoint, fid_ep>(f);
  return self.context_ ? name_of(*self.context_, address, size) : -FI_EOPBADSTATE;
}

int name_of(weft::context& c, void* address, std::size_t* size) noexcept {
  return guarded([&] {
    const context_address own = context_address_of(c);
    const std::size_t room = std::exchange(*size, own.bytes.size());
    if (address) std::memcpy(address, own.bytes.data(), std::min(room, own.bytes.size()));
    return room < own.bytes.size() ? -FI_ETOOSMALL : 0;
  });
}

int endpoint::get_option(fid_t f, int level, int name, void* value, std::size_t* size) noexcept {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (*size < sizeof(std::size_t)) return -FI_ETOOSMALL;
  *size = sizeof(std::size_t);
  std::memcpy(value, &object_of<endpoint, fid_ep>(f).least_room_, *size);
  return 0;
}

int endpoint::set_option(fid_t f, int level, int name, const void* value,
                         std::size_t size) noexcept {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_MIN_MULTI_RECV) return -FI_ENOPROTOOPT;
  if (size != sizeof(std::size_t)) return -FI_EINVAL;
  std::memcpy(&object_of<endpoint, fid_ep>(f).least_room_, value, size);
  return 0;
}

}  // namespace weft::ofi
