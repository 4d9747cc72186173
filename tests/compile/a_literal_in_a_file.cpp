// SPDX-License-Identifier: Apache-2.0
// says: pass std::string_view(text)
#include <string_view>

#include <weft/weft.hpp>

using namespace weft;

task<void> note(context& ctx) {
#ifndef WRONG
  co_await write_file(ctx, "notes", std::string_view("warp"));
#else
  co_await write_file(ctx, "notes", "warp");
#endif
}
