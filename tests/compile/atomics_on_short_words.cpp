// SPDX-License-Identifier: Apache-2.0
// says: work on integers of 8 bytes
#include <string>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

task<void> talk(context& ctx, endpoint peer) {
  static_cast<void>(ctx);
#ifndef WRONG
  region_of<std::int64_t> words(ctx, 1);
  co_await peer.fetch_add(words.remote()[0], 1);
#else
  region_of<std::int32_t> words(ctx, 1);
  co_await peer.fetch_add(words.remote()[0], 1);
#endif
}
