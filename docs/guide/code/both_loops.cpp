// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <cstdio>
#include <exception>
#include <string>
#include <weft/interop/asio.hpp>
#include <weft/weft.hpp>

using namespace weft;
using asio::ip::tcp;

constexpr tag words{1};

/// A client by TCP sends five letters; a process by weft answers.
task<void> answer(context& ctx, tcp::acceptor& door) {
  tcp::socket client = co_await door.async_accept(use_task);
  std::string letters(5, ' ');
  co_await asio::async_read(client, asio::buffer(letters), use_task);

  endpoint self = ctx.world()[0];  // any peer: here this process itself
  co_await self.send_value(words, letters);
  std::string back = co_await self.recv_value<std::string>(words);
  co_await asio::async_write(client, asio::buffer(back), use_task);
}

task<void> ask(tcp::endpoint where, asio::io_context& io) {
  tcp::socket service(io);
  co_await service.async_connect(where, use_task);
  std::string letters = "hello";
  co_await asio::async_write(service, asio::buffer(letters), use_task);
  co_await asio::async_read(service, asio::buffer(letters), use_task);
  std::printf("%s, through TCP and weft\n", letters.c_str());
}

task<void> play(context& ctx, asio::io_context& io) {
  tcp::acceptor door(io, {asio::ip::address_v4::loopback(), 0});
  co_await when_all(answer(ctx, door), ask(door.local_endpoint(), io));
}

int main() {
  context ctx;
  asio::io_context io;
  asio_loop loop(ctx, io);  // the context runs inside io.run()
  async(ctx, play(ctx, io), [&](std::exception_ptr failure) {
    loop.stop();
    if (failure) std::rethrow_exception(failure);
  });
  io.run();
}
