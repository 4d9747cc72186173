// SPDX-License-Identifier: Apache-2.0
#include "transports/self/factory.hpp"

#include "transports/self/transport.hpp"

namespace weft::transports::self {

std::unique_ptr<transport> make() { return std::make_unique<self_transport>(); }

}  // namespace weft::transports::self
