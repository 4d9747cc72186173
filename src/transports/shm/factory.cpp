// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/factory.hpp"

#include <random>

#include "transports/shm/transport.hpp"

namespace weft::transports::shm {

std::string probe() {
  try {
    runtime::map_own(runtime::make_memory_file("weft-probe", sizeof(ring)), sizeof(ring));
    return {};
  } catch (const error& e) {
    return e.what();
  }
}

std::unique_ptr<transport> make(runtime::doorbell& door, const std::string& large) {
  large_way way{};
  if (large == "auto") way = large_way::automatic;
  else if (large == "pipeline") way = large_way::pipeline;
  else if (large == "cma") way = large_way::cma;
  else if (large == "direct") way = large_way::direct;
  else
    throw error(errc::invalid_argument,
                "WEFT_LARGE is \"" + large + "\"; it can be auto, pipeline, cma or direct");
  std::random_device dice;
  const std::uint64_t probe_value = std::uint64_t{dice()} << 32 | dice();
  return std::make_unique<shm_transport>(door, way, probe_value);
}

std::span<std::byte> allocate(transport& shm, std::size_t size) {
  return static_cast<shm_transport&>(shm).regions().allocate(size);
}

void free(transport& shm, std::span<std::byte> memory) noexcept {
  static_cast<shm_transport&>(shm).regions().free(memory);
}

}  // namespace weft::transports::shm
