// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <weft/reconnecting_endpoint.hpp>
#include <weft/weft.hpp>

using namespace weft;
using text = std::string;

constexpr am put{1}, get{2};

task<void> serve(context& ctx, text at) {
  signal_set signals(ctx, {SIGTERM});
  std::map<text, text> values;
  handler puts =
      ctx.on<void(text, text)>(put, [&](text key, text value) { values[key] = std::move(value); });
  handler gets = ctx.on<std::optional<text>(text)>(get, [&](text key) -> std::optional<text> {
    auto found = values.find(key);
    if (found == values.end()) return std::nullopt;
    return found->second;
  });
  listener door = co_await ctx.listen(at);
  scope clients;
  clients.start(door.accept_all());
  co_await signals.next();
  door.close();
  co_await clients.join();
}

task<void> use(context& ctx, text at, text key, text value) {
  reconnecting_endpoint shelf(ctx, at);
  if (!value.empty()) co_await shelf.call_idempotent<void>(put, key, value);
  auto found = co_await shelf.call_idempotent<std::optional<text>>(get, key);
  std::printf("%s: %s\n", key.c_str(), found ? found->c_str() : "no value");
}

int main(int argc, char** argv) {
  text at = argc > 1 ? argv[1] : "", key = argc > 2 ? argv[2] : "", value = argc > 3 ? argv[3] : "";
  if (key.empty()) return run_main(serve, at);
  return run_main(use, at, key, value);
}
