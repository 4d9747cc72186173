// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/objects/address_vector.hpp"

#include <cstdio>
#include <cstring>

#include "bindings/ofi/objects/domain.hpp"
#include "bindings/ofi/objects/open_mpi_4.hpp"

namespace weft::ofi {

namespace {

// Enough for most_contexts, by whichever way an application counts them.
constexpr int most_context_bits = 8;

context_address contact_at(const void* address) noexcept {
  context_address c;
  std::memcpy(c.bytes.data(), address, c.bytes.size());
  return c;
}

}  // namespace

fi_ops_av address_vector::av_ops{
    .size = sizeof(fi_ops_av),
    .insert = &address_vector::insert,
    .insertsvc = no,
    .insertsym = no,
    .remove = &address_vector::remove,
    .lookup = &address_vector::lookup,
    .straddr = &address_vector::to_text,
    .av_set = no,
};

address_vector::address_vector(domain& of, fi_av_type type, unsigned context_bits, void* context)
    : fid_av{{FI_CLASS_AV, context, &only_closes<address_vector, fid_av>}, &av_ops},
      domain_(of),
      context_bits_(context_bits) {
  static_cast<void>(type);  // an index serves as either
  domain_.used.add();
}

address_vector::~address_vector() { domain_.used.remove(); }

int address_vector::open(fid_domain* of, fi_av_attr* attr, fid_av** made, void* context) noexcept {
  // Named vectors would be shared between processes, and asynchronous ones need an event queue.
  if (attr && (attr->name || attr->flags != 0)) return -FI_ENOSYS;
  if (attr && (attr->rx_ctx_bits < 0 || attr->rx_ctx_bits > most_context_bits)) return -FI_EINVAL;
  return guarded([&] {
    *made = new address_vector(object<domain>(of), attr ? attr->type : FI_AV_UNSPEC,
                               attr ? static_cast<unsigned>(attr->rx_ctx_bits) : 0, context);
    if (attr && attr->type == FI_AV_UNSPEC) attr->type = FI_AV_TABLE;
    return 0;
  });
}

int address_vector::insert(fid_av* av, const void* addresses, std::size_t count, fi_addr_t* made,
                           std::uint64_t flags, void* context) noexcept {
  address_vector& self = object<address_vector>(av);
  int* const errors = (flags & FI_SYNC_ERR) != 0 ? static_cast<int*>(context) : nullptr;
  if ((flags & ~(FI_MORE | FI_SYNC_ERR)) != 0) return -FI_EBADFLAGS;
  if (!addresses && count != 0) return -FI_EINVAL;
  if (!persistent_sends_are_right()) return -FI_EOPNOTSUPP;
  return guarded([&] {
    int good = 0;
    const std::lock_guard lock(self.mutex_);
    self.contacts_.reserve(self.contacts_.size() + count);
    for (std::size_t i = 0; i != count; ++i) {
      const context_address c =
          contact_at(static_cast<const std::byte*>(addresses) + i * sizeof(context_address::bytes));
      const bool valid = is_context_address(c);
      if (made) made[i] = valid ? self.contacts_.size() : FI_ADDR_NOTAVAIL;
      if (errors) errors[i] = valid ? 0 : FI_EINVAL;
      if (!valid) continue;
      self.contacts_.emplace_back(c);
      ++good;
    }
    return good;
  });
}

/// The number is not given again: an endpoint that has met the peer may still use it.
int address_vector::remove(fid_av* av, fi_addr_t* which, std::size_t count,
                           std::uint64_t flags) noexcept {
  address_vector& self = object<address_vector>(av);
  if (flags != 0) return -FI_EBADFLAGS;
  const std::lock_guard lock(self.mutex_);
  for (std::size_t i = 0; i != count; ++i)
    if (which[i] < self.contacts_.size()) self.contacts_[which[i]].reset();
  return 0;
}

int address_vector::lookup(fid_av* av, fi_addr_t which, void* address, std::size_t* size) noexcept {
  const auto found = object<address_vector>(av).at(which);
  if (!found) return -FI_EINVAL;
  std::memcpy(address, found->bytes.data(), std::min(*size, found->bytes.size()));
  *size = found->bytes.size();
  return 0;
}

/// The text does not contain the secret of the address.
const char* address_vector::to_text(fid_av* /*av*/, const void* address, char* text,
                                    std::size_t* size) noexcept {
  const std::string said = describe(contact_at(address));
  std::snprintf(text, *size, "%s", said.c_str());
  *size = said.size() + 1;
  return text;
}

std::optional<context_address> address_vector::at(fi_addr_t address) const {
  const std::lock_guard lock(mutex_);
  return address < contacts_.size() ? contacts_[address] : std::nullopt;
}

std::size_t address_vector::size() const {
  const std::lock_guard lock(mutex_);
  return contacts_.size();
}

}  // namespace weft::ofi
