// SPDX-License-Identifier: Apache-2.0
// says: pass std::string_view(text)
#include <string>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

task<void> talk(context& ctx, endpoint peer) {
  static_cast<void>(ctx);
#ifndef WRONG
  co_await peer.send_value(tag{1}, std::string_view("text"));
#else
  co_await peer.send_value(tag{1}, "text");
#endif
}
