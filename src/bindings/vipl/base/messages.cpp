// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/base/messages.hpp"

namespace weft::vipl {

std::string requester::packed() const {
  introduction i = who;
  i.address_length = static_cast<std::uint8_t>(from.host.size());
  i.discriminator_length = static_cast<std::uint8_t>(from.discriminator.size());
  std::string text(reinterpret_cast<const char*>(&i), sizeof i);
  text.append(reinterpret_cast<const char*>(from.host.data()), from.host.size());
  return text + from.discriminator;
}

std::optional<requester> requester::unpack(const std::string& bytes) {
  reader in(std::as_bytes(std::span(bytes)));
  const auto who = in.take<introduction>();
  const auto host = in.take<host_address>();
  if (!who || !host || who->magic != wire_magic || who->address_length != host->size() ||
      who->discriminator_length > longest_discriminator ||
      in.rest().size() != who->discriminator_length)
    return std::nullopt;
  const auto* const text = reinterpret_cast<const char*>(in.rest().data());
  return requester{*who, {*host, std::string(text, in.rest().size())}};
}

std::optional<descriptor_list> read_list(std::span<const std::byte> from) {
  reader in(from);
  const std::optional<list_ahead> list = in.take<list_ahead>();
  if (!list || list->count > descriptors_in_batch) return std::nullopt;
  descriptor_list result{list->dropped, {}};
  for (std::uint32_t i = 0; i != list->count; ++i) {
    const std::optional<descriptor_ahead> d = in.take<descriptor_ahead>();
    if (!d || d->places > most_segments) return std::nullopt;
    known_descriptor k{list->first + i, d->capacity, {}};
    std::uint64_t room = 0;
    for (std::uint32_t p = 0; p != d->places; ++p) {
      const std::optional<place_ahead> one = in.take<place_ahead>();
      if (!one) return std::nullopt;
      room += one->length;
      k.places.push_back(*one);
    }
    if (room != k.capacity) return std::nullopt;
    result.all.push_back(std::move(k));
  }
  return result;
}

}  // namespace weft::vipl
