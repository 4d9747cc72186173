// SPDX-License-Identifier: Apache-2.0
// says: both ranges of a collective have elements of one type
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

task<void> together(group world) {
  std::vector<int> mine(3);
#ifndef WRONG
  std::vector<int> all(3 * world.size());
#else
  std::vector<unsigned char> all(12 * world.size());
#endif
  co_await world.all_gather(mine, all);
}
