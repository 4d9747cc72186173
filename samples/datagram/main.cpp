// SPDX-License-Identifier: Apache-2.0
// datagram_hello: rank 1 greets rank 0 over a transport of its own.   weft-run -n 2 datagram_hello
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include <weft/weft.hpp>

#include "datagram.hpp"

using namespace weft;

task<void> greet(context& ctx) {
  group world = ctx.world();
  if (world.size() < 2) throw error(errc::invalid_argument, "start two: weft-run -n 2");
  constexpr tag words{1}, bulk{2};
  std::vector<char> much(1'000'000, 'x');
  if (world.rank() == 1) {
    co_await world[0].send_value(words, std::string("hello"));
    co_await world[0].send(std::as_bytes(std::span(much)), bulk);
  } else if (world.rank() == 0) {
    const auto heard = co_await world[1].recv_value<std::string>(words);
    const received r = co_await world[1].recv(std::as_writable_bytes(std::span(much)), bulk);
    std::printf("%s, and %zu bytes, by %s\n", heard.c_str(), r.size, world[1].describe().c_str());
  }
  co_await world.barrier();
}

int main() {
  try {
    options o = options::from_environment();
    o.transport_factories = {datagram::kind()};
    o.transports = {"self", "datagram"};
    context ctx(std::move(o));
    run(ctx, greet(ctx));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "datagram_hello: %s\n", e.what());
    return 1;
  }
}
