// SPDX-License-Identifier: Apache-2.0
// An endpoint's life: made, bound, enabled, closed. Its operations are in endpoint_messages.cpp,
// endpoint_rma.cpp and endpoint_atomics.cpp.
#include "bindings/ofi/endpoint.hpp"

#include <rdma/fi_cm.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

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

fi_ops_cm endpoint::cm_ops{
    .size = sizeof(fi_ops_cm),
    .setname = no,
    .getname = &endpoint::get_name,
    .getpeer = no,
    .connect = no,
    .listen = no,
    .accept = no,
    .reject = no,
    .shutdown = no,
    .join = no,
};

endpoint::endpoint(domain& of, const fi_info& info, void* context)
    : fid_ep{{FI_CLASS_EP, context, &object_ops},
             &ep_ops,
             &cm_ops,
             &msg_ops,
             &rma_ops,
             &tagged_ops,
             &atomic_ops,
             nullptr},
      domain_(of),
      caps_(info.caps),
      directed_((info.caps & FI_DIRECTED_RECV) != 0),
      send_flags_(info.tx_attr ? info.tx_attr->op_flags : 0),
      receive_flags_(info.rx_attr ? info.rx_attr->op_flags : 0) {
  ended_[0].owner = ended_[1].owner = this;
  domain_.used.add();
}

endpoint::~endpoint() {
  for (direction* d : {&sends_, &receives_}) {
    if (d->queue && d->ended && external_loop_ && (d != &receives_ || d->ended != sends_.ended))
      d->queue->remove(*d->ended);
    if (d->queue) d->queue->used.remove();
  }
  for (direction* d : {&sends_, &receives_, &reads_, &writes_}) {
    if (!d->counted) continue;
    if (external_loop_) d->counted->remove(*external_loop_);
    d->counted->used.remove();
  }
  if (names_) names_->used.remove();
  if (context_) domain_.remove(*this);
  domain_.used.remove();
  claims_.clear();
  external_loop_.reset();
  peers_.reset();
  context_.reset();  // ends operations in flight; no thread reads their ends any more
  for (completions& c : ended_)
    for (const record* r = c.waiting.first(); r; r = r->after) delete r->multi;
}

int endpoint::open(fid_domain* of, fi_info* info, fid_ep** made, void* context) noexcept {
  return guarded([&] {
    *made = new endpoint(object<domain>(of), *info, context);
    return 0;
  });
}

int endpoint::close(fid_t f) noexcept { return ofi::close(object_of<endpoint, fid_ep>(f)); }

int endpoint::bind(fid_t f, fid_t to, std::uint64_t flags) noexcept {
  endpoint& self = object_of<endpoint, fid_ep>(f);
  if (self.context_) return -FI_EOPBADSTATE;
  switch (to->fclass) {
    case FI_CLASS_AV:
      if (self.names_) return -FI_EINVAL;
      self.names_ = &object_of<address_vector, fid_av>(to);
      self.names_->used.add();
      return 0;
    case FI_CLASS_CQ:
      for (auto [bit, d] : {std::pair{FI_TRANSMIT, &self.sends_}, {FI_RECV, &self.receives_}}) {
        if ((flags & bit) == 0) continue;
        if (d->queue) return -FI_EINVAL;
        d->queue = &object_of<completion_queue, fid_cq>(to);
        d->selective = (flags & FI_SELECTIVE_COMPLETION) != 0;
        d->queue->used.add();
      }
      return 0;
    case FI_CLASS_CNTR:
      // An endpoint without access has nothing to count; accesses by peers cannot be counted.
      if (self.accesses() && (flags & (FI_REMOTE_READ | FI_REMOTE_WRITE)) != 0)
        return -FI_EOPNOTSUPP;
      for (auto [bit, d] : {std::pair{FI_SEND, &self.sends_},
                            {FI_RECV, &self.receives_},
                            {FI_READ, &self.reads_},
                            {FI_WRITE, &self.writes_}}) {
        if ((flags & bit) == 0) continue;
        if (d->counted) return -FI_EINVAL;
        d->counted = &object_of<counter, fid_cntr>(to);
        d->counted->used.add();
      }
      return 0;
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
  if (!names_) return -FI_ENOAV;
  if (!sends_.queue && !receives_.queue && !sends_.counted && !receives_.counted) return -FI_ENOCQ;
  context_.emplace(domain_.chosen());
  peers_.emplace(*context_, *names_);
  external_loop_.emplace(*context_);
  // One queue for both directions reports operations in the order in which they ended.
  sends_.ended = &ended_[0];
  receives_.ended = sends_.queue == receives_.queue ? &ended_[0] : &ended_[1];
  if (sends_.queue) sends_.queue->add(*sends_.ended);
  if (receives_.queue && receives_.queue != sends_.queue) receives_.queue->add(*receives_.ended);
  for (direction* d : {&reads_, &writes_}) {
    d->queue = sends_.queue;
    d->selective = sends_.selective;
    d->ended = sends_.ended;
  }
  for (const direction* d : {&sends_, &receives_, &reads_, &writes_})
    if (d->counted) d->counted->add(*external_loop_);
  domain_.add(*this);
  announce();
  return 0;
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
  if (!self.context_) return -FI_EOPBADSTATE;
  return guarded([&] {
    const context_address own = context_address_of(*self.context_);
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
