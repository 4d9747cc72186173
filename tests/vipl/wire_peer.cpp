// SPDX-License-Identifier: Apache-2.0
#include "wire_peer.hpp"

#include <unistd.h>

#include "bindings/vipl/base/wire.hpp"

using namespace weft::vipl;

std::string address_of_listener(std::string_view discriminator) {
  constexpr const char* digits = "0123456789abcdef";
  std::string address = "unix://weft-vipl-" + std::to_string(::getuid()) + "-c";
  for (const char c : discriminator) {
    address += digits[static_cast<unsigned char>(c) >> 4];
    address += digits[static_cast<unsigned char>(c) & 15];
  }
  return address;
}

std::string request_of_peer(std::uint16_t level) {
  introduction i{};
  i.magic = wire_magic;
  i.vi = 0x10001;
  i.epoch = 1;
  i.reliability = level;
  i.rdma_write = 1;
  i.max_transfer = 1 << 20;  // as the VIs of the suite
  i.address_length = 4;
  i.discriminator_length = 4;
  return std::string(reinterpret_cast<const char*>(&i), sizeof i) + "\1\2\3\4peer";
}
