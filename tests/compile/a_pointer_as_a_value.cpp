// SPDX-License-Identifier: Apache-2.0
// says: (not pointers,
#include <string>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

task<void> talk(context& ctx, endpoint peer) {
  static_cast<void>(ctx);
#ifndef WRONG
  const int n = 1;
  co_await peer.send_value(tag{1}, n);
#else
  const int n = 1;
  co_await peer.send_value(tag{1}, &n);
#endif
}
