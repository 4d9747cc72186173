// SPDX-License-Identifier: Apache-2.0
// says: declared with attribute
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

task<void> talk(endpoint peer) {
  std::vector<int> values{1, 2, 3};
#ifndef WRONG
  co_await peer.send_value(tag{1}, values);
#else
  peer.send_value(tag{1}, values);
#endif
  co_return;
}
