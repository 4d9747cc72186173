// SPDX-License-Identifier: Apache-2.0
// libfabric's calls for reads and writes. Each becomes an access_call.
#include "bindings/ofi/endpoint/posting.hpp"

namespace weft::ofi {

namespace {

notify notice_of(std::uint64_t data) noexcept { return {data & (has_cq_data - 1)}; }

constexpr std::uint64_t read_flags = (operation_flags & ~(FI_INJECT | FI_MULTI_RECV)) | FI_MORE;
constexpr std::uint64_t write_flags =
    (operation_flags & ~FI_MULTI_RECV) | FI_REMOTE_CQ_DATA | FI_MORE;

/// One piece and one place, for an access_call that refers to them.
struct one_place {
  iovec piece;
  fi_rma_iov place;

  one_place(const void* buffer, std::size_t size, std::uint64_t address, std::uint64_t key) noexcept
      : piece{const_cast<void*>(buffer), size}, place{address, size, key} {}
  access_call call(fid_ep* ep, fi_addr_t peer, void* context) const noexcept {
    return {.pieces = {&piece, 1},
            .places = {&place, 1},
            .peer = peer,
            .context = context,
            .flags = at(ep).send_flags()};
  }
  access_call injected(fi_addr_t peer) const noexcept {
    return {.pieces = {&piece, 1},
            .places = {&place, 1},
            .peer = peer,
            .flags = FI_INJECT,
            .silent = true};
  }
};

access_call in_pieces(fid_ep* ep, std::span<const iovec> pieces, const fi_rma_iov& place,
                      fi_addr_t peer, void* context) noexcept {
  return {.pieces = pieces,
          .places = {&place, 1},
          .peer = peer,
          .context = context,
          .flags = at(ep).send_flags()};
}

access_call call_of(const fi_msg_rma& m, std::uint64_t flags) noexcept {
  return {
      .pieces = {m.msg_iov, m.iov_count},
      .places = {m.rma_iov, m.rma_iov_count},
      .peer = m.addr,
      .then = (flags & FI_REMOTE_CQ_DATA) != 0 ? std::optional(notice_of(m.data)) : std::nullopt,
      .context = m.context,
      .flags = flags};
}

}  // namespace

fi_ops_rma endpoint::rma_ops{
    .size = sizeof(fi_ops_rma),
    .read =
        [](fid_ep* ep, void* buffer, std::size_t size, void*, fi_addr_t from, std::uint64_t address,
           std::uint64_t key, void* context) {
          return at(ep).read(one_place(buffer, size, address, key).call(ep, from, context));
        },
    .readv =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t from,
           std::uint64_t address, std::uint64_t key, void* context) {
          const std::span<const iovec> all(pieces, count);
          const fi_rma_iov place{address, size_of(all), key};
          return at(ep).read(in_pieces(ep, all, place, from, context));
        },
    .readmsg = [](fid_ep* ep, const fi_msg_rma* m, std::uint64_t flags) -> ssize_t {
      return (flags & ~read_flags) != 0 ? -FI_EBADFLAGS : at(ep).read(call_of(*m, flags));
    },
    .write =
        [](fid_ep* ep, const void* buffer, std::size_t size, void*, fi_addr_t to,
           std::uint64_t address, std::uint64_t key, void* context) {
          return at(ep).write(one_place(buffer, size, address, key).call(ep, to, context));
        },
    .writev =
        [](fid_ep* ep, const iovec* pieces, void**, std::size_t count, fi_addr_t to,
           std::uint64_t address, std::uint64_t key, void* context) {
          const std::span<const iovec> all(pieces, count);
          const fi_rma_iov place{address, size_of(all), key};
          return at(ep).write(in_pieces(ep, all, place, to, context));
        },
    .writemsg = [](fid_ep* ep, const fi_msg_rma* m, std::uint64_t flags) -> ssize_t {
      return (flags & ~write_flags) != 0 ? -FI_EBADFLAGS : at(ep).write(call_of(*m, flags));
    },
    .inject =
        [](fid_ep* ep, const void* buffer, std::size_t size, fi_addr_t to, std::uint64_t address,
           std::uint64_t key) {
          return at(ep).write(one_place(buffer, size, address, key).injected(to));
        },
    .writedata =
        [](fid_ep* ep, const void* buffer, std::size_t size, void*, std::uint64_t data,
           fi_addr_t to, std::uint64_t address, std::uint64_t key, void* context) {
          const one_place there(buffer, size, address, key);
          access_call c = there.call(ep, to, context);
          c.then = notice_of(data);
          return at(ep).write(c);
        },
    .injectdata =
        [](fid_ep* ep, const void* buffer, std::size_t size, std::uint64_t data, fi_addr_t to,
           std::uint64_t address, std::uint64_t key) {
          const one_place there(buffer, size, address, key);
          access_call c = there.injected(to);
          c.then = notice_of(data);
          return at(ep).write(c);
        },
};

}  // namespace weft::ofi
