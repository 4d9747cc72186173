// SPDX-License-Identifier: Apache-2.0
#include "transports/composite/factory.hpp"

#include "transports/composite/transport.hpp"

namespace weft::transports::composite {

std::unique_ptr<transport> make(std::string name, std::vector<std::unique_ptr<transport>> parts,
                                std::optional<std::size_t> shm_limit) {
  return std::make_unique<composite_transport>(std::move(name), std::move(parts), shm_limit);
}

}  // namespace weft::transports::composite
