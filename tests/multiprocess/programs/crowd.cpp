// SPDX-License-Identifier: Apache-2.0
// Asks for a rank beyond those of the job, and so ends with run_main's report.
#include <weft/weft.hpp>

weft::task<void> look(weft::context& ctx) {
  static_cast<void>(ctx.world()[ctx.world().size()]);
  co_return;
}

int main() { return weft::run_main(look); }
