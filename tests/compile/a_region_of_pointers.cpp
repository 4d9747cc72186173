// SPDX-License-Identifier: Apache-2.0
// says: peers write bytes
#include <string>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

task<void> talk(context& ctx, endpoint peer) {
  static_cast<void>(ctx);
#ifndef WRONG
  region_of<double> cells(ctx, 1);
#else
  region_of<double*> cells(ctx, 1);
#endif
}
