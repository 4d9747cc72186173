// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/factory.hpp"

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

std::unique_ptr<transport> make(runtime::engine& e, copy_completion ends) {
  return std::make_unique<qdma_transport>(e, ends);
}

}  // namespace weft::transports::qdma
