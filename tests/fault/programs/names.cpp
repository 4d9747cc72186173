// SPDX-License-Identifier: Apache-2.0
// Connects to a host with an unknown name, does not wait for the answer, and ends.
//   names connect ADDRESS | names meet OWN OTHER
#include <chrono>
#include <iostream>
#include <string>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using namespace std::chrono_literals;

task<void> go(context& ctx, std::string how, std::string where, std::string other) {
  errc why = errc::ok;
  if (how == "meet") {
    const auto r = co_await as_result(within(300ms, ctx.meet(where, other, "us")));
    why = r.code();
  } else {
    const auto r = co_await as_result(within(300ms, ctx.connect(where)));
    why = r.code();
  }
  std::cout << (why == errc::timed_out ? "given up" : "something else") << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  {
    context ctx;
    run(ctx, go(ctx, argv[1], argv[2], argc > 3 ? argv[3] : ""));
  }
  std::cout << "ended" << std::endl;
}
