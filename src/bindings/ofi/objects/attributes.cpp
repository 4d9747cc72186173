// SPDX-License-Identifier: Apache-2.0
// fi_getinfo: the provider's offer, and the check of an application's hints. Unsupported features
// are refused here and nowhere later.
#include "bindings/ofi/objects/attributes.hpp"

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <weft/context_address.hpp>

namespace weft::ofi {

namespace {

// A format that is the provider's own has the highest bit.
constexpr std::uint32_t own_address_format = 0x8000'7765;
constexpr std::size_t longest_message = std::size_t{1} << 47;
constexpr std::size_t queue_size = 1 << 16;  // memory is the only limit
constexpr std::size_t many = 1 << 10;
constexpr std::uint64_t order = FI_ORDER_SAS;
constexpr std::uint64_t no_order = 0;

constexpr std::uint64_t access_kinds = FI_RMA | FI_ATOMIC;

/// How many contexts a scalable endpoint can have. A region belongs to one lane, and peers could
/// not tell which: with access there is none. Open MPI's btl ofi takes a scalable endpoint where
/// one is offered.
std::size_t contexts_for(std::uint64_t caps) noexcept {
  return (caps & access_kinds) != 0 ? 1 : most_contexts;
}

bool is(const char* name, const char* wanted) noexcept {
  return !wanted || std::string_view(name) == wanted;
}

template <class T>
bool within(T asked, T offered) noexcept {
  return (asked & ~offered) == 0;
}

bool suits(const fi_ep_attr* e, std::uint64_t caps) noexcept {
  if (!e) return true;
  const auto few = [caps](std::size_t contexts) { return contexts <= contexts_for(caps); };
  return (e->type == FI_EP_UNSPEC || e->type == FI_EP_RDM) && e->protocol == FI_PROTO_UNSPEC &&
         e->max_msg_size <= longest_message && e->msg_prefix_size == 0 && few(e->tx_ctx_cnt) &&
         few(e->rx_ctx_cnt) && e->auth_key_size == 0;
}

bool suits(const fi_domain_attr* d, std::uint64_t caps) noexcept {
  if (!d) return true;
  const auto progress = [](fi_progress p) {
    return p == FI_PROGRESS_UNSPEC || p == FI_PROGRESS_AUTO || is_manual(p);
  };
  return is(provider_name, d->name) && d->threading <= FI_THREAD_ENDPOINT &&
         progress(d->control_progress) && progress(d->data_progress) &&
         (d->av_type == FI_AV_UNSPEC || d->av_type == FI_AV_MAP || d->av_type == FI_AV_TABLE) &&
         d->cq_data_size <= cq_data_size && d->max_ep_tx_ctx <= contexts_for(caps) &&
         d->max_ep_rx_ctx <= contexts_for(caps) && d->max_ep_stx_ctx == 0 &&
         d->max_ep_srx_ctx == 0 && within<std::uint64_t>(d->caps, FI_LOCAL_COMM | FI_REMOTE_COMM) &&
         d->auth_key_size == 0;
}

bool suits(const fi_tx_attr* t) noexcept {
  return !t || (within(t->caps, all_caps) && within(t->op_flags, operation_flags) &&
                within(t->msg_order, order) && t->comp_order == no_order &&
                t->inject_size <= inject_size && t->iov_limit <= most_pieces &&
                t->rma_iov_limit <= most_pieces && t->size <= queue_size);
}

bool suits(const fi_rx_attr* r) noexcept {
  return !r ||
         (within(r->caps, all_caps) && within(r->op_flags, operation_flags) &&
          within(r->msg_order, order) && r->comp_order == no_order && r->iov_limit <= most_pieces &&
          r->total_buffered_recv == 0 && r->size <= queue_size);
}

/// An address of this many zero bytes stands for one that the provider chooses.
constexpr std::size_t address_size = sizeof(context_address::bytes);

bool is_any_address(const void* address, std::size_t size) noexcept {
  constexpr std::array<std::byte, address_size> any{};
  return !address || (size == any.size() && std::memcmp(address, any.data(), any.size()) == 0);
}

bool is_peer_address(const void* address, std::size_t size) noexcept {
  context_address c;
  if (size != c.bytes.size()) return false;
  std::memcpy(c.bytes.data(), address, size);
  return is_context_address(c);
}

/// fi_getinfo(3): a node or a service names the other side, but with FI_SOURCE this one, where they
/// are left to the provider. Peers of weft have no names: their addresses hold secrets.
bool suits(const char* node, const char* service, std::uint64_t flags,
           const fi_info* hints) noexcept {
  const bool of_this_side = (flags & FI_SOURCE) != 0;
  if ((node || service) && !of_this_side) return false;
  if (!hints) return true;
  return (of_this_side || is_any_address(hints->src_addr, hints->src_addrlen)) &&
         (!hints->dest_addr || is_peer_address(hints->dest_addr, hints->dest_addrlen));
}

/// Before version 1.5 a registration mode was one of two, or either.
bool has_mode_bits(std::uint32_t version) noexcept {
  return FI_VERSION_GE(version, FI_VERSION(1, 5));
}

bool suits_before_mode_bits(const fi_info* hints) noexcept {
  const int mode = hints && hints->domain_attr ? hints->domain_attr->mr_mode : 0;
  return mode == 0 || mode == mr_basic || mode == mr_scalable;
}

bool suits(const fi_info& hints) noexcept {
  return within(hints.caps, all_caps) &&
         (hints.addr_format == FI_FORMAT_UNSPEC || hints.addr_format == own_address_format) &&
         (!hints.fabric_attr || is(provider_name, hints.fabric_attr->name)) &&
         suits(hints.ep_attr, hints.caps) && suits(hints.domain_attr, hints.caps) &&
         suits(hints.tx_attr) && suits(hints.rx_attr);
}

/// Kinds of messages, or of access, without a direction mean all directions.
std::uint64_t caps_for(std::uint64_t asked) noexcept {
  if (asked == 0) return all_caps;
  const bool accesses = (asked & access_kinds) != 0;
  if ((asked & (FI_SEND | FI_RECV)) == 0 && (!accesses || (asked & (FI_MSG | FI_TAGGED)) != 0))
    asked |= FI_SEND | FI_RECV;
  if (accesses && (asked & access_caps & ~access_kinds) == 0) asked |= access_caps & ~access_kinds;
  return asked | FI_LOCAL_COMM | FI_REMOTE_COMM;
}

/// The useful part of the modes that the application supports: keys that peers cannot guess, and
/// addresses, which an application has anyway. Nothing is required.
int mr_mode_for(int offered, std::uint64_t caps) noexcept {
  if ((caps & access_kinds) == 0) return 0;
  if (offered == mr_basic || offered == mr_scalable) return offered;
  return offered & (FI_MR_VIRT_ADDR | FI_MR_PROV_KEY);
}

template <class T>
T chosen(const T* wanted, T otherwise) noexcept {
  return wanted && *wanted != T{} ? *wanted : otherwise;
}

void fill(fi_tx_attr& t, std::uint64_t caps, const fi_tx_attr* asked) noexcept {
  t.caps =
      caps & (FI_MSG | FI_TAGGED | FI_SEND | access_kinds | FI_READ | FI_WRITE | FI_NAMED_RX_CTX);
  t.op_flags = asked ? asked->op_flags : 0;
  t.msg_order = order;
  t.inject_size = inject_size;
  t.size = queue_size;
  t.iov_limit = most_pieces;
  if ((caps & FI_RMA) != 0) t.rma_iov_limit = most_pieces;
}

void fill(fi_rx_attr& r, std::uint64_t caps, const fi_rx_attr* asked) noexcept {
  r.caps = caps & (FI_MSG | FI_TAGGED | FI_RECV | FI_DIRECTED_RECV | FI_MULTI_RECV | FI_SOURCE |
                   access_kinds | FI_REMOTE_READ | FI_REMOTE_WRITE);
  r.op_flags = asked ? asked->op_flags : 0;
  r.msg_order = order;
  r.size = queue_size;
  r.iov_limit = most_pieces;
}

void fill(fi_domain_attr& d, std::uint64_t caps, const fi_domain_attr* asked) noexcept {
  d.threading = chosen(asked ? &asked->threading : nullptr, FI_THREAD_SAFE);
  d.data_progress = chosen(asked ? &asked->data_progress : nullptr, FI_PROGRESS_AUTO);
  d.control_progress = chosen(asked ? &asked->control_progress : nullptr, FI_PROGRESS_AUTO);
  d.resource_mgmt = FI_RM_ENABLED;
  d.av_type = chosen(asked ? &asked->av_type : nullptr, FI_AV_TABLE);
  d.mr_mode = mr_mode_for(asked ? asked->mr_mode : 0, caps);
  d.mr_key_size = sizeof(std::uint64_t);
  d.cq_data_size = cq_data_size;
  d.cq_cnt = d.ep_cnt = d.cntr_cnt = d.tx_ctx_cnt = d.rx_ctx_cnt = many;
  d.max_ep_tx_ctx = d.max_ep_rx_ctx = contexts_for(caps);
  d.mr_iov_limit = (caps & access_kinds) != 0 ? 1 : most_pieces;
  d.mr_cnt = many;
  d.caps = FI_LOCAL_COMM | FI_REMOTE_COMM;
}

/// In memory of malloc, which fi_freeinfo frees. \returns false: memory is short
bool fill_names(fi_info& into, const void* peer) noexcept {
  into.domain_attr->name = ::strdup(provider_name);
  into.fabric_attr->name = ::strdup(provider_name);
  into.src_addr = std::calloc(1, address_size);
  into.src_addrlen = address_size;
  if (peer && (into.dest_addr = std::malloc(address_size)) != nullptr) {
    std::memcpy(into.dest_addr, peer, address_size);
    into.dest_addrlen = address_size;
  }
  return into.domain_attr->name && into.fabric_attr->name && into.src_addr &&
         (!peer || into.dest_addr);
}

}  // namespace

bool is_manual(fi_progress p) noexcept {
  // FI_PROGRESS_CONTROL_UNIFIED of libfabric 1.20 and later.
  constexpr auto unified = FI_PROGRESS_MANUAL + 1;
  return p == FI_PROGRESS_MANUAL || static_cast<int>(p) == unified;
}

naming naming_of(int mr_mode) noexcept {
  const bool basic = mr_mode == mr_basic;
  return {basic || (mr_mode & FI_MR_VIRT_ADDR) != 0, basic || (mr_mode & FI_MR_PROV_KEY) != 0};
}

int get_info(std::uint32_t version, const char* node, const char* service, std::uint64_t flags,
             const fi_info* hints, fi_info** info) noexcept {
  if (!suits(node, service, flags, hints) || (hints && !suits(*hints)) ||
      !(has_mode_bits(version) || suits_before_mode_bits(hints)))
    return -FI_ENODATA;
  fi_info* const made = fi_allocinfo();
  if (!made) return -FI_ENOMEM;
  made->caps = caps_for(hints ? hints->caps : 0);
  made->addr_format = own_address_format;
  made->ep_attr->type = FI_EP_RDM;
  made->ep_attr->protocol = FI_PROTO_UNSPEC;
  made->ep_attr->protocol_version = 1;
  made->ep_attr->max_msg_size = longest_message;
  made->ep_attr->mem_tag_format = ~untagged;
  const fi_ep_attr* const asked = hints ? hints->ep_attr : nullptr;
  made->ep_attr->tx_ctx_cnt = chosen(asked ? &asked->tx_ctx_cnt : nullptr, std::size_t{1});
  made->ep_attr->rx_ctx_cnt = chosen(asked ? &asked->rx_ctx_cnt : nullptr, std::size_t{1});
  fill(*made->tx_attr, made->caps, hints ? hints->tx_attr : nullptr);
  fill(*made->rx_attr, made->caps, hints ? hints->rx_attr : nullptr);
  fill(*made->domain_attr, made->caps, hints ? hints->domain_attr : nullptr);
  if (!has_mode_bits(version) && made->domain_attr->mr_mode == 0)
    made->domain_attr->mr_mode = mr_scalable;
  made->fabric_attr->prov_version = provider_version;
  made->fabric_attr->api_version = version;
  if (!fill_names(*made, hints ? hints->dest_addr : nullptr)) {
    fi_freeinfo(made);
    return -FI_ENOMEM;
  }
  *info = made;
  return 0;
}

}  // namespace weft::ofi
