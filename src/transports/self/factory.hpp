// SPDX-License-Identifier: Apache-2.0
// Makes the transport; the context lists factories explicitly.
#pragma once

#include <memory>

#include "transports/transport.hpp"

namespace weft::transports::self {

std::unique_ptr<transport> make();

}  // namespace weft::transports::self
