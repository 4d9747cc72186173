// SPDX-License-Identifier: Apache-2.0
// says: has no memory of its own
#include <span>
#include <string>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

task<void> talk(context& ctx, endpoint peer) {
  static_cast<void>(ctx);
#ifndef WRONG
  co_await peer.recv_value<std::vector<int>>(tag{1});
#else
  co_await peer.recv_value<std::span<int>>(tag{1});
#endif
}
