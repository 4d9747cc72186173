// SPDX-License-Identifier: Apache-2.0
// says: pass a variable
#include <string>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

task<void> talk(context& ctx, endpoint peer) {
  static_cast<void>(ctx);
#ifndef WRONG
  int n = 0;
  co_await peer.recv_value(tag{1}, n);
#else
  co_await peer.recv_value(tag{1}, 0);
#endif
}
