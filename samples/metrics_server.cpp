// SPDX-License-Identifier: Apache-2.0
// metrics_server: a rank's counters for Prometheus, over HTTP by Asio. weft itself opens no port.
//
//   weft-run -n 2 metrics_server             each rank prints its port, and serves until SIGTERM
//   curl http://127.0.0.1:PORT/metrics
//
// Everything is on one thread: the ranks exchange numbers while a scraper asks.
#include <asio/buffer.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/read_until.hpp>
#include <asio/signal_set.hpp>
#include <asio/write.hpp>
#include <chrono>
#include <csignal>
#include <exception>
#include <iostream>
#include <string>

#include <weft/interop/asio.hpp>
#include <weft/openmetrics.hpp>
#include <weft/weft.hpp>

using namespace weft;
using namespace std::chrono_literals;
using asio::ip::tcp;

namespace {

std::string answer_to(const std::string& request, const context& ctx) {
  const bool known = request.starts_with("GET /metrics ");
  const std::string body = known ? to_openmetrics(ctx) : "ask for /metrics\n";
  return std::string(known ? "HTTP/1.1 200 OK" : "HTTP/1.1 404 Not Found") +
         "\r\nContent-Type: " + (known ? openmetrics_content_type : "text/plain") +
         "\r\nContent-Length: " + std::to_string(body.size()) + "\r\nConnection: close\r\n\r\n" +
         body;
}

/// One request, and then the connection is closed. A request is short, or is none.
task<void> serve_one(tcp::socket client, context& ctx) {
  std::string request;
  const auto [failed, n] = co_await asio::async_read_until(
      client, asio::dynamic_buffer(request, 8192), "\r\n\r\n", use_task_tuple);
  if (failed) co_return;
  const std::string answer = answer_to(request, ctx);
  static_cast<void>(co_await asio::async_write(client, asio::buffer(answer), use_task_tuple));
}

/// A scraper that says nothing for long is not waited for.
task<void> serve_within(tcp::socket client, context& ctx) {
  static_cast<void>(co_await as_result(within(5s, serve_one(std::move(client), ctx))));
}

task<void> serve(tcp::acceptor& door, context& ctx) {
  scope clients(co_await current_environment());
  for (;;) {
    auto [failed, client] = co_await door.async_accept(use_task_tuple);
    if (failed) break;
    clients.start(serve_within(std::move(client), ctx));
  }
  co_await clients.join();
}

/// What there is to measure: rank 0 and rank 1 pass a number to and fro.
task<void> work(context& ctx) {
  const peer_id me = ctx.world().rank();
  if (ctx.world().size() < 2 || me > 1) co_return;
  endpoint other = ctx.world()[1 - me];
  for (std::uint64_t number = 0;;) {
    if (me == 0) co_await other.send_value(tag{1}, number);
    co_await other.recv_value(tag{1}, number);
    ++number;
    if (me == 1) co_await other.send_value(tag{1}, number);
    co_await sleep_for(10ms);
  }
}

}  // namespace

int main() try {
  context ctx;
  asio::io_context io;
  asio_loop loop(ctx, io);  // the context runs inside io.run()
  tcp::acceptor door(io, {asio::ip::address_v4::loopback(), 0});
  std::cout << "port " << door.local_endpoint().port() << std::endl;

  asio::signal_set signals(io, SIGTERM, SIGINT);
  signals.async_wait([&](auto, int) {
    door.close();
    loop.stop();
  });
  spawn(ctx, work(ctx), [](const std::exception_ptr&) {});  // ends with the other rank
  spawn(ctx, serve(door, ctx), [](const std::exception_ptr&) {});
  io.run();
  return 0;
} catch (const std::exception& e) {
  std::cerr << "metrics_server: " << e.what() << '\n';
  return 1;
}
