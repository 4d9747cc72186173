// SPDX-License-Identifier: Apache-2.0
// What a message costs here by each way that it could take.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <weft/options.hpp>

namespace weft::info {

/// A way, and its time.
struct measured_way {
  std::string way;       ///< "as chosen", or the name of another way
  double half_trip = 0;  ///< microseconds for half a round trip, the median
};

/// Sends messages back and forth between two contexts of this process, a thread each, for some
/// hundredths of a second each way. \param chosen of both contexts \param bytes of a message
/// \throws weft::error, as a context and its messages do
std::vector<measured_way> measure(const options& chosen, std::size_t bytes);

}  // namespace weft::info
