// SPDX-License-Identifier: Apache-2.0
#include "transports/joint/factory.hpp"

#include "transports/joint/transport.hpp"

namespace weft::transports::joint {

std::unique_ptr<transport> make(std::string name, std::vector<std::unique_ptr<transport>> parts) {
  return std::make_unique<joint_transport>(std::move(name), std::move(parts));
}

}  // namespace weft::transports::joint
