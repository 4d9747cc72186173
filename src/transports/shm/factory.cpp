// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/factory.hpp"

#include <random>
#include <string>

#include <weft/options.hpp>

#include "runtime/progress/own_services.hpp"
#include "transports/shm/read_policy.hpp"
#include "transports/shm/select.hpp"
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

std::unique_ptr<transport> make(runtime::doorbell& own_bell, const std::string& large,
                                ring_read_policy reading, services* looks_after,
                                std::size_t streamed_from) {
  copy_method way{};
  if (large == "auto")
    way = copy_method::automatic;
  else if (large == "pipeline")
    way = copy_method::pipeline;
  else if (large == "cma")
    way = copy_method::cma;
  else if (large == "direct")
    way = copy_method::direct;
  else
    throw error(errc::invalid_argument,
                "WEFT_SHM_COPY is \"" + large + "\"; it can be auto, pipeline, cma or direct");
  std::random_device dice;
  const std::uint64_t probe_value = std::uint64_t{dice()} << 32 | dice();
  if (reading == ring_read_policy::burst)
    return std::make_unique<shm_transport>(own_bell, way, probe_value, looks_after, streamed_from);
  return std::make_unique<read_policy_transport>(own_bell, way, probe_value, reading, looks_after,
                                                 streamed_from);
}

factory kind() {
  return {"shm", [](services& e, const options& o, std::string& why) -> std::unique_ptr<transport> {
            why = probe();
            if (!why.empty()) return nullptr;
            return make(runtime::own_services::of(e).own_doorbell(), o.experimental.shm_copy,
                        o.experimental.reading, &e,
                        streamed_from(o.experimental.stores, o.experimental.streamed_from));
          }};
}

}  // namespace weft::transports::shm
