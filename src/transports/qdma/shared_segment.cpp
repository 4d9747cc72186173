// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/shared_segment.hpp"

#include <cstring>
#include <random>

#include <weft/error.hpp>

namespace weft::transports::qdma {

namespace {

std::uint64_t random_word() {
  std::random_device dice;
  return std::uint64_t{dice()} << 32 | dice();
}

}  // namespace

shared_segment::shared_segment(std::size_t arena_bytes)
    : regions_(arena_bytes),
      file_(runtime::make_memory_file("weft-qdma-office", sizeof(segment_memory))),
      mapping_(runtime::map_own(file_, sizeof(segment_memory))),
      memory_(static_cast<segment_memory*>(mapping_.get())),
      probe_word_(random_word()) {
  memory_->magic = segment_magic;
  memory_->queues = queue_count;
}

void shared_segment::add_card(wireup_message& p, vpid who, bool fences_for_itself) const {
  const device_address_body body{card_magic,
                                 card_version,
                                 who,
                                 fences_for_itself ? 1u : 0u,
                                 reinterpret_cast<std::uintptr_t>(&probe_word_),
                                 probe_word_,
                                 regions_.arena_bytes()};
  p.bytes.resize(sizeof body);
  std::memcpy(p.bytes.data(), &body, sizeof body);
  for (const int fd : {file_.get(), regions_.catalog_fd(), regions_.arena_fd()})
    p.fds.push_back(runtime::duplicate(fd));
}

device_address_body body_of_card(const wireup_message& p, std::size_t fds) {
  device_address_body body{};
  if (p.bytes.size() == sizeof body) std::memcpy(&body, p.bytes.data(), sizeof body);
  if (body.magic != card_magic || body.version != card_version || p.fds.size() != fds)
    throw error(errc::protocol_error, "the peer's card is not of this version");
  return body;
}

}  // namespace weft::transports::qdma
