// SPDX-License-Identifier: Apache-2.0
// says: <weft/interop/cereal.hpp>
#include <string>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

struct named {
  std::string name;
};

task<void> talk(context& ctx, endpoint peer) {
  static_cast<void>(ctx);
#ifndef WRONG
  co_await peer.recv_value<std::string>(tag{1});
#else
  co_await peer.recv_value<named>(tag{1});
#endif
}
