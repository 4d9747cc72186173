// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/factory.hpp"

#include <weft/options.hpp>

#include "transports/qdma/transport.hpp"

namespace weft::transports::qdma {

std::string probe() {
  try {
    runtime::map_own(runtime::make_memory_file("weft-probe", stage_bytes), stage_bytes);
    return {};
  } catch (const error& e) {
    return e.what();
  }
}

std::unique_ptr<transport> make(runtime::own_services& e, copy_completion ends) {
  return std::make_unique<qdma_transport>(e, ends);
}

factory kind() {
  return {"qdma",
          [](services& e, const options& o, std::string& why) -> std::unique_ptr<transport> {
            why = probe();
            if (!why.empty()) return nullptr;
            return make(runtime::own_services::of(e), o.experimental.qdma_copy_completion);
          }};
}

}  // namespace weft::transports::qdma
