// SPDX-License-Identifier: Apache-2.0
// A context inside an io_context, and a sender, with the installed headers.
#include <weft/interop/asio.hpp>
#include <weft/interop/execution.hpp>

namespace {

weft::task<int> ended(weft::context& ctx) {
  co_await weft::as_awaitable(weft::scheduler_of(ctx).schedule());
  co_return 0;
}

}  // namespace

int main() {
  weft::context ctx;
  asio::io_context io;
  weft::asio_loop loop(ctx, io);
  int status = 1;
  weft::async(ctx, ended(ctx), [&](const std::exception_ptr&, int result) {
    status = result;
    loop.stop();
  });
  io.run();
  return status;
}
