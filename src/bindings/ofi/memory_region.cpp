// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/memory_region.hpp"

namespace weft::ofi {

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

memory_region::memory_region(domain& of, std::span<const iovec> pieces, std::uint64_t its_key,
                             void* context)
    : fid_mr{{FI_CLASS_MR, context, &only_closes<memory_region, fid_mr>}, nullptr, its_key},
      domain_(of),
      pieces_(pieces.begin(), pieces.end()) {
  domain_.used.add();
}

memory_region::~memory_region() {
  for (const iovec& p : pieces_)
    domain_.forget({static_cast<const std::byte*>(p.iov_base), p.iov_len});
  domain_.used.remove();
}

int memory_region::make(fid_t of, std::span<const iovec> pieces, std::uint64_t access,
                        std::uint64_t key, std::uint64_t flags, fid_mr** made,
                        void* context) noexcept {
  if ((access & ~(FI_SEND | FI_RECV)) != 0) return -FI_EOPNOTSUPP;  // no remote access: no FI_RMA
  if (flags != 0) return -FI_EBADFLAGS;
  return guarded([&] {
    *made = new memory_region(object_of<domain, fid_domain>(of), pieces, key, context);
    return 0;
  });
}

}  // namespace weft::ofi
