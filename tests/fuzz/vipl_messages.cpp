// SPDX-License-Identifier: Apache-2.0
// What another process sends to a NIC of VIPL: requests, and descriptors that travel ahead. What is
// taken fits its limits, and says the same when it is packed again.
#include <string>

#include "bindings/vipl/base/messages.hpp"
#include "target.hpp"

namespace weft::fuzz {

namespace {

using namespace vipl;

void request(std::span<const std::byte> bytes) {
  const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::optional<requester> r = requester::unpack(text);
  if (!r) return;
  check(r->from.discriminator.size() <= longest_discriminator, "a discriminator has its limit");
  check(r->packed() == text, "a request says the same when it is packed again");
}

void list(std::span<const std::byte> bytes) {
  const std::optional<descriptor_list> l = read_list(bytes);
  if (!l) return;
  check(l->all.size() <= descriptors_in_batch, "a list has its limit");
  for (std::size_t i = 0; i != l->all.size(); ++i) {
    const known_descriptor& d = l->all[i];
    std::uint64_t room = 0;
    for (const place_ahead& p : d.places) room += p.length;
    check(room == d.capacity, "the places have room for the descriptor's bytes");
    check(d.number - l->all.front().number == i, "the numbers follow each other");
  }
}

}  // namespace

void run(input in) {
  if ((in.get<std::uint8_t>() & 1) != 0)
    request(in.rest());
  else
    list(in.rest());
}

}  // namespace weft::fuzz
