// SPDX-License-Identifier: Apache-2.0
#include "transports/composite/factory.hpp"

#include "transports/composite/transport.hpp"

namespace weft::transports::composite {

std::unique_ptr<transport> make(std::string name, std::vector<std::unique_ptr<transport>> parts) {
  return std::make_unique<composite_transport>(std::move(name), std::move(parts));
}

}  // namespace weft::transports::composite
