// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/endpoint/scalable_endpoint.hpp"

#include <rdma/fi_cm.h>

#include <algorithm>
#include <cstring>

namespace weft::ofi {

fi_ops scalable_endpoint::object_ops{
    .size = sizeof(fi_ops),
    .close = &scalable_endpoint::close,
    .bind = &scalable_endpoint::bind,
    .control = &scalable_endpoint::control,
    .ops_open = no,
    .tostr = no,
    .ops_set = no,
};

fi_ops_ep scalable_endpoint::ep_ops{
    .size = sizeof(fi_ops_ep),
    .cancel = no,
    .getopt = no,
    .setopt = no,
    .tx_ctx = &scalable_endpoint::open_tx,
    .rx_ctx = &scalable_endpoint::open_rx,
    .rx_size_left = no,
    .tx_size_left = no,
};

fi_ops_cm scalable_endpoint::cm_ops = only_names(&scalable_endpoint::get_name);

scalable_endpoint::scalable_endpoint(domain& of, const fi_info& info, void* context)
    : fid_ep{{FI_CLASS_SEP, context, &object_ops},
             &ep_ops,
             &cm_ops,
             nullptr,
             nullptr,
             nullptr,
             nullptr,
             nullptr},
      domain_(of),
      facts_(endpoint_facts::of(info)),
      count_(info.ep_attr
                 ? std::max({info.ep_attr->tx_ctx_cnt, info.ep_attr->rx_ctx_cnt, std::size_t{1}})
                 : 1),
      lanes_(count_) {
  domain_.used.add();
}

scalable_endpoint::~scalable_endpoint() {
  if (context_) {
    const auto until = std::chrono::steady_clock::now() + linger_;
    for (endpoint* e = closed_.get(); e; e = e->closed_before.get()) e->finish_sends(until);
  }
  lanes_.clear();
  if (context_) domain_.remove(*context_);
  context_.reset();  // ends operations in flight, whose memory the closed contexts have
  while (closed_) closed_ = std::move(closed_->closed_before);
  if (names_) names_->used.remove();
  domain_.used.remove();
}

int scalable_endpoint::open(fid_domain* of, fi_info* info, fid_ep** made, void* context) noexcept {
  const std::size_t wanted =
      info->ep_attr ? std::max(info->ep_attr->tx_ctx_cnt, info->ep_attr->rx_ctx_cnt) : 1;
  if (wanted > most_contexts) return -FI_EINVAL;
  if ((info->caps & (FI_RMA | FI_ATOMIC)) != 0) return -FI_EOPNOTSUPP;
  return guarded([&] {
    *made = new scalable_endpoint(object<domain>(of), *info, context);
    return 0;
  });
}

int scalable_endpoint::close(fid_t f) noexcept {
  return ofi::close(object_of<scalable_endpoint, fid_ep>(f));
}

int scalable_endpoint::bind(fid_t f, fid_t to, std::uint64_t /*flags*/) noexcept {
  scalable_endpoint& self = object_of<scalable_endpoint, fid_ep>(f);
  const std::lock_guard lock(self.mutex_);
  if (self.context_) return -FI_EOPBADSTATE;
  if (to->fclass != FI_CLASS_AV || self.names_) return -FI_EINVAL;
  self.names_ = &object_of<address_vector, fid_av>(to);
  self.names_->used.add();
  return 0;
}

int scalable_endpoint::control(fid_t f, int command, void* /*argument*/) noexcept {
  if (command != FI_ENABLE) return -FI_ENOSYS;
  scalable_endpoint& self = object_of<scalable_endpoint, fid_ep>(f);
  const std::lock_guard lock(self.mutex_);
  if (!self.names_) return -FI_ENOAV;
  return guarded([&] {
    self.need_context();
    return 0;
  });
}

void scalable_endpoint::need_context() {
  if (context_) return;
  options o = domain_.chosen();
  o.lanes = static_cast<unsigned>(count_);
  linger_ = o.linger;
  auto made = std::make_unique<weft::context>(std::move(o));
  domain_.add(*made);
  context_ = std::move(made);
}

lane& scalable_endpoint::at(unsigned number) {
  const std::lock_guard lock(mutex_);
  if (!names_)
    throw error(errc::invalid_argument, "the scalable endpoint has no address vector yet");
  need_context();
  std::unique_ptr<lane>& it = lanes_[number];
  if (!it) it = std::make_unique<lane>(context_->lane(number), *names_);
  return *it;
}

void scalable_endpoint::keep(std::unique_ptr<endpoint> closed) noexcept {
  const std::lock_guard lock(mutex_);
  closed->closed_before = std::move(closed_);
  closed_ = std::move(closed);
}

int scalable_endpoint::open_part(int index, const endpoint_facts& facts, std::size_t fid_class,
                                 fid_ep** made, void* context) noexcept {
  if (index < 0 || static_cast<std::size_t>(index) >= count_) return -FI_EINVAL;
  return guarded([&] {
    *made = new endpoint(domain_, facts, context,
                         sep_context{this, static_cast<unsigned>(index), fid_class});
    return 0;
  });
}

int scalable_endpoint::open_tx(fid_ep* sep, int index, fi_tx_attr* attr, fid_ep** made,
                               void* context) noexcept {
  scalable_endpoint& self = object<scalable_endpoint>(sep);
  endpoint_facts facts = self.facts_;
  if (attr) facts.send_flags = attr->op_flags;
  return self.open_part(index, facts, FI_CLASS_TX_CTX, made, context);
}

int scalable_endpoint::open_rx(fid_ep* sep, int index, fi_rx_attr* attr, fid_ep** made,
                               void* context) noexcept {
  scalable_endpoint& self = object<scalable_endpoint>(sep);
  endpoint_facts facts = self.facts_;
  if (attr) facts.receive_flags = attr->op_flags;
  return self.open_part(index, facts, FI_CLASS_RX_CTX, made, context);
}

int scalable_endpoint::get_name(fid_t f, void* address, std::size_t* size) noexcept {
  scalable_endpoint& self = object_of<scalable_endpoint, fid_ep>(f);
  const std::lock_guard lock(self.mutex_);
  if (!self.context_) return -FI_EOPBADSTATE;
  return name_of(*self.context_, address, size);
}

}  // namespace weft::ofi
