// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/objects/memory_region.hpp"

#include "bindings/ofi/endpoint/endpoint.hpp"

namespace weft::ofi {

namespace {

constexpr std::uint64_t remote_access = FI_REMOTE_READ | FI_REMOTE_WRITE;
constexpr std::uint64_t known_access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | remote_access;

rights rights_of(std::uint64_t access) noexcept {
  const bool read = (access & FI_REMOTE_READ) != 0;
  const bool write = (access & FI_REMOTE_WRITE) != 0;
  return read && write ? rights::read_write
         : read        ? rights::read
         : write       ? rights::write
                       : rights::none;
}

}  // namespace

fi_ops_mr memory_region::domain_ops{
    .size = sizeof(fi_ops_mr),
    .reg =
        [](fid_t of, const void* memory, std::size_t size, std::uint64_t access, std::uint64_t,
           std::uint64_t key, std::uint64_t flags, fid_mr** made, void* context) {
          const iovec one{const_cast<void*>(memory), size};
          return make(of, {&one, 1}, access, key, flags, made, context);
        },
    .regv =
        [](fid_t of, const iovec* pieces, std::size_t count, std::uint64_t access, std::uint64_t,
           std::uint64_t key, std::uint64_t flags, fid_mr** made, void* context) {
          return make(of, {pieces, count}, access, key, flags, made, context);
        },
    .regattr =
        [](fid_t of, const fi_mr_attr* attr, std::uint64_t flags, fid_mr** made) {
          return make(of, {attr->mr_iov, attr->iov_count}, attr->access, attr->requested_key, flags,
                      made, attr->context);
        },
};

memory_region::memory_region(domain& of, std::span<const iovec> pieces, std::uint64_t access,
                             std::uint64_t its_key, void* context)
    : fid_mr{{FI_CLASS_MR, context, &only_closes<memory_region, fid_mr>}, nullptr, its_key},
      domain_(of),
      pieces_(pieces.begin(), pieces.end()),
      may_(rights_of(access)) {
  domain_.used.add();
}

memory_region::~memory_region() {
  if (is_remote()) domain_.remove(*this);
  for (const iovec& p : pieces_)
    domain_.forget({static_cast<const std::byte*>(p.iov_base), p.iov_len});
  domain_.used.remove();
}

void memory_region::show_to_peers_of(endpoint& e) {
  if (!e.accesses()) return;
  const iovec& all = pieces_.front();
  const std::uint64_t first =
      domain_.names().by_address ? reinterpret_cast<std::uintptr_t>(all.iov_base) : 0;
  shown_.push_back({&e, e.show({static_cast<std::byte*>(all.iov_base), all.iov_len}, may_,
                               {weft_key(key), first})});
}

void memory_region::leave_to(const endpoint& e) noexcept {
  shown_.remove_if([&](shown& s) {
    if (s.at != &e) return false;
    s.region.release();
    return true;
  });
}

int memory_region::make(fid_t of, std::span<const iovec> pieces, std::uint64_t access,
                        std::uint64_t key, std::uint64_t flags, fid_mr** made,
                        void* context) noexcept {
  if ((access & ~known_access) != 0) return -FI_EOPNOTSUPP;
  if (flags != 0) return -FI_EBADFLAGS;
  const bool remote = (access & remote_access) != 0;
  if (remote && pieces.size() != 1) return -FI_EINVAL;  // as mr_iov_limit says
  return guarded([&] {
    domain& in = object_of<domain, fid_domain>(of);
    if (remote && !in.accesses()) return -FI_EOPNOTSUPP;
    if (remote && in.names().draws_keys) key = in.draw_key();
    if (remote && key == FI_KEY_NOTAVAIL) return -FI_EKEYREJECTED;
    auto region = std::make_unique<memory_region>(in, pieces, access, key, context);
    if (remote && !in.add(*region)) return -FI_ENOKEY;
    *made = region.release();
    return 0;
  });
}

}  // namespace weft::ofi
