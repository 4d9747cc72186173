// SPDX-License-Identifier: Apache-2.0
// libfabric's calls for messages. Each becomes a message_call.
#include <rdma/fi_tagged.h>

#include "bindings/ofi/endpoint/endpoint.hpp"

namespace weft::ofi {

namespace {

std::uint64_t word_of(std::uint64_t data) noexcept {
  return has_cq_data | (data & (has_cq_data - 1));
}

/// \param word 0: no remote CQ data
ssize_t do_send(fid_ep* ep, const iovec* pieces, std::size_t count, std::uint64_t word,
                fi_addr_t to, std::uint64_t tag, void* context) noexcept {
  return at(ep).send({{pieces, count}, to, tag, 0, word, context, at(ep).send_flags()});
}
ssize_t do_send(fid_ep* ep, const void* buffer, std::size_t size, std::uint64_t word, fi_addr_t to,
                std::uint64_t tag, void* context) noexcept {
  const iovec one{const_cast<void*>(buffer), size};
  return do_send(ep, &one, 1, word, to, tag, context);
}
ssize_t do_inject(fid_ep* ep, const void* buffer, std::size_t size, std::uint64_t word,
                  fi_addr_t to, std::uint64_t tag) noexcept {
  const iovec one{const_cast<void*>(buffer), size};
  return at(ep).send({{&one, 1}, to, tag, 0, word, nullptr, FI_INJECT, true});
}
ssize_t do_receive(fid_ep* ep, const iovec* pieces, std::size_t count, fi_addr_t from,
                   std::uint64_t tag, std::uint64_t ignore, void* context) noexcept {
  return at(ep).receive({{pieces, count}, from, tag, ignore, 0, context, at(ep).receive_flags()});
}
ssize_t do_receive(fid_ep* ep, void* buffer, std::size_t size, fi_addr_t from, std::uint64_t tag,
                   std::uint64_t ignore, void* context) noexcept {
  const iovec one{buffer, size};
  return do_receive(ep, &one, 1, from, tag, ignore, context);
}

constexpr std::uint64_t send_message_flags = operation_flags | FI_REMOTE_CQ_DATA | FI_MORE;
constexpr std::uint64_t receive_message_flags =
    FI_COMPLETION | FI_MORE | FI_PEEK | FI_CLAIM | FI_DISCARD | FI_MULTI_RECV;

template <class Message>
ssize_t send_message(fid_ep* ep, const Message& m, std::uint64_t tag,
                     std::uint64_t flags) noexcept {
  if ((flags & ~send_message_flags) != 0) return -FI_EBADFLAGS;
  const std::uint64_t word = (flags & FI_REMOTE_CQ_DATA) != 0 ? word_of(m.data) : 0;
  return at(ep).send({{m.msg_iov, m.iov_count}, m.addr, tag, 0, word, m.context, flags});
}

template <class Message>
ssize_t receive_message(fid_ep* ep, const Message& m, std::uint64_t tag, std::uint64_t ignore,
                        std::uint64_t flags) noexcept {
  if ((flags & ~receive_message_flags) != 0) return -FI_EBADFLAGS;
  return at(ep).receive({{m.msg_iov, m.iov_count}, m.addr, tag, ignore, 0, m.context, flags});
}

/// The highest bit of a tag is not the application's (fi_ep_attr::mem_tag_format says so).
template <class Call>
ssize_t if_good(std::uint64_t tag, Call call) noexcept {
  return (tag & untagged) == 0 ? call() : -FI_EINVAL;
}

}  // namespace

fi_ops_msg endpoint::msg_ops{
    .size = sizeof(fi_ops_msg),
    .recv = [](fid_ep* ep, void* buffer, std::size_t size, void*, fi_addr_t from,
               void* context) { return do_receive(ep, buffer, size, from, untagged, 0, context); },
    .recvv =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from,
           void* context) { return do_receive(ep, pieces, count, from, untagged, 0, context); },
    .recvmsg = [](fid_ep* ep, const fi_msg* m,
                  std::uint64_t flags) { return receive_message(ep, *m, untagged, 0, flags); },
    .send = [](fid_ep* ep, const void* buffer, std::size_t size, void*, fi_addr_t to,
               void* context) { return do_send(ep, buffer, size, 0, to, untagged, context); },
    .sendv = [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to,
                void* context) { return do_send(ep, pieces, count, 0, to, untagged, context); },
    .sendmsg = [](fid_ep* ep, const fi_msg* m,
                  std::uint64_t flags) { return send_message(ep, *m, untagged, flags); },
    .inject = [](fid_ep* ep, const void* buffer, std::size_t size,
                 fi_addr_t to) { return do_inject(ep, buffer, size, 0, to, untagged); },
    .senddata =
        [](fid_ep* ep, const void* buffer, std::size_t size, void*, std::uint64_t data,
           fi_addr_t to, void* context) {
          return do_send(ep, buffer, size, word_of(data), to, untagged, context);
        },
    .injectdata =
        [](fid_ep* ep, const void* buffer, std::size_t size, std::uint64_t data, fi_addr_t to) {
          return do_inject(ep, buffer, size, word_of(data), to, untagged);
        },
};

fi_ops_tagged endpoint::tagged_ops{
    .size = sizeof(fi_ops_tagged),
    .recv =
        [](fid_ep* ep, void* buffer, std::size_t size, void*, fi_addr_t from, std::uint64_t tag,
           std::uint64_t ignore, void* context) {
          return if_good(tag, [&] {
            return do_receive(ep, buffer, size, from, tag, ignore & ~untagged, context);
          });
        },
    .recvv =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from,
           std::uint64_t tag, std::uint64_t ignore, void* context) {
          return if_good(tag, [&] {
            return do_receive(ep, pieces, count, from, tag, ignore & ~untagged, context);
          });
        },
    .recvmsg =
        [](fid_ep* ep, const fi_msg_tagged* m, std::uint64_t flags) {
          return if_good(m->tag, [&] {
            return receive_message(ep, *m, m->tag, m->ignore & ~untagged, flags);
          });
        },
    .send =
        [](fid_ep* ep, const void* buffer, std::size_t size, void*, fi_addr_t to, std::uint64_t tag,
           void* context) {
          return if_good(tag, [&] { return do_send(ep, buffer, size, 0, to, tag, context); });
        },
    .sendv =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to,
           std::uint64_t tag, void* context) {
          return if_good(tag, [&] { return do_send(ep, pieces, count, 0, to, tag, context); });
        },
    .sendmsg =
        [](fid_ep* ep, const fi_msg_tagged* m, std::uint64_t flags) {
          return if_good(m->tag, [&] { return send_message(ep, *m, m->tag, flags); });
        },
    .inject =
        [](fid_ep* ep, const void* buffer, std::size_t size, fi_addr_t to, std::uint64_t tag) {
          return if_good(tag, [&] { return do_inject(ep, buffer, size, 0, to, tag); });
        },
    .senddata =
        [](fid_ep* ep, const void* buffer, std::size_t size, void*, std::uint64_t data,
           fi_addr_t to, std::uint64_t tag, void* context) {
          return if_good(
              tag, [&] { return do_send(ep, buffer, size, word_of(data), to, tag, context); });
        },
    .injectdata =
        [](fid_ep* ep, const void* buffer, std::size_t size, std::uint64_t data, fi_addr_t to,
           std::uint64_t tag) {
          return if_good(tag, [&] { return do_inject(ep, buffer, size, word_of(data), to, tag); });
        },
};

}  // namespace weft::ofi
