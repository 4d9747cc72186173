// SPDX-License-Identifier: Apache-2.0
// Makes a channel of any rung on a line of any kind.
#pragma once

#include <memory>

#include "transports/channel/line.hpp"

namespace weft::transports::channel {

/// Before a line is made.
/// \throws weft::error (invalid_argument) for settings that are out of range
void check(const settings& s);

/// \param s checked, and those of the line
std::unique_ptr<rdma_channel> make(std::unique_ptr<line> on, const settings& s);

}  // namespace weft::transports::channel
