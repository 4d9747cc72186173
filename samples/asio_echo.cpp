// SPDX-License-Identifier: Apache-2.0
// asio_echo: an echo service for TCP clients, by Asio, and for weft clients, on one thread.
//
//   asio_echo serve unix://echo         prints its TCP port, serves both until SIGTERM or SIGINT
//   asio_echo tcp PORT WORDS            a client by TCP
//   asio_echo weft unix://echo WORDS    a client by weft
#include <array>
#include <asio/bind_cancellation_slot.hpp>
#include <asio/connect.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read.hpp>
#include <asio/signal_set.hpp>
#include <asio/write.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <span>
#include <string>

#include <weft/interop/asio.hpp>
#include <weft/weft.hpp>

using namespace weft;
using asio::ip::tcp;

namespace {

constexpr tag echo_tag{1};

task<void> echo_tcp(tcp::socket client) {
  std::array<char, 4096> bytes;
  for (;;) {
    const auto [failed, n] = co_await client.async_read_some(asio::buffer(bytes), use_task_tuple);
    if (failed) co_return;  // the client has left, or the service ends
    const auto [cut, sent] =
        co_await asio::async_write(client, asio::buffer(bytes, n), use_task_tuple);
    if (cut) co_return;
  }
}

task<void> echo_weft(endpoint client) {
  std::array<std::byte, 4096> bytes;
  for (;;) {
    result<received> got = co_await as_result(client.recv(std::span(bytes), echo_tag));
    if (!got) co_return;
    const auto answer = std::span<const std::byte>(bytes).first(got.value().size);
    const result<void> sent = co_await as_result(client.send(answer, echo_tag));
    if (!sent) co_return;
  }
}

task<void> accept_tcp(tcp::acceptor& door) {
  scope clients(co_await current_environment());
  for (;;) {
    auto [failed, client] = co_await door.async_accept(use_task_tuple);
    if (failed) break;
    clients.start(echo_tcp(std::move(client)));
  }
  co_await clients.join();
}

/// Ends when it is asked to stop, and all clients' sockets are closed by then.
task<void> serve(context& ctx, std::string address, tcp::acceptor& door) {
  listener listening = co_await ctx.listen(address);
  std::cout << "port " << door.local_endpoint().port() << std::endl;
  scope both(co_await current_environment());
  both.start(accept_tcp(door));
  both.start(listening.accept_all(echo_weft));
  co_await both.join();
}

int serve_until_signal(const std::string& address) {
  context ctx;
  asio::io_context io;
  asio_loop loop(ctx, io);  // the context runs inside io.run()
  tcp::acceptor door(io, {asio::ip::address_v4::loopback(), 0});

  asio::cancellation_signal stop;
  asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&](auto, int) { stop.emit(asio::cancellation_type::terminal); });

  int status = 0;
  async(ctx, serve(ctx, address, door),
        asio::bind_cancellation_slot(stop.slot(), [&](const std::exception_ptr& end) {
          try {
            if (end) std::rethrow_exception(end);
          } catch (const error& e) {
            if (e.kind() != errc::stopped) status = (std::cerr << e.what() << '\n', 1);
          }
          signals.cancel();
          loop.stop();
        }));
  io.run();
  return status;
}

int ask_by_tcp(const std::string& port, std::string words) {
  asio::io_context io;
  tcp::socket service(io);
  asio::connect(service, tcp::resolver(io).resolve("127.0.0.1", port));
  asio::write(service, asio::buffer(words));
  asio::read(service, asio::buffer(words));
  std::cout << "by tcp: " << words << '\n';
  return 0;
}

task<void> ask_by_weft(context& ctx, std::string address, std::string words) {
  endpoint service = co_await ctx.connect(address);
  co_await service.send_value(echo_tag, words);
  const auto answer = co_await service.recv_value<std::string>(echo_tag);
  std::cout << "by weft: " << answer << '\n';
}

}  // namespace

int main(int argc, char** argv) try {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "serve" && argc == 3) return serve_until_signal(argv[2]);
  if (what == "tcp" && argc == 4) return ask_by_tcp(argv[2], argv[3]);
  if (what == "weft" && argc == 4) {
    context ctx;
    run(ctx, ask_by_weft(ctx, argv[2], argv[3]));
    return 0;
  }
  std::cerr << "use: asio_echo serve ADDRESS | tcp PORT WORDS | weft ADDRESS WORDS\n";
  return 2;
} catch (const std::exception& e) {
  std::cerr << "asio_echo: " << e.what() << '\n';
  return 1;
}
