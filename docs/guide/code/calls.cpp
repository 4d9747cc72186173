// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <weft/weft.hpp>

using namespace weft;
using namespace std::chrono_literals;

// The numbers of the handlers: known to both sides, as tags are.
constexpr am add{1}, count{2}, leave{3};

task<void> serve(context& ctx, std::size_t clients) {
  std::map<std::string, int> words;
  event all_left;
  // Handlers run one at a time on the thread inside run(): no lock.
  handler adds = ctx.on<void(std::string)>(add, [&](std::string word) { ++words[word]; });
  handler counts = ctx.on<int(std::string)>(count, [&](std::string word) {
    if (word.empty()) throw std::invalid_argument("an empty word has no count");
    return words[word];
  });
  handler leaves = ctx.on<void()>(leave, [&] {
    if (--clients == 0) all_left.set();
  });
  co_await all_left.wait();
  co_await leaves.end();  // when the last reply has left
}

task<void> use(endpoint service, std::string word) {
  for (int i = 0; i != 3; ++i) co_await service.post(add, word);  // no reply
  int n = co_await within(1s, service.call<int>(count, word));
  std::printf("%s: %d\n", word.c_str(), n);

  result<int> none = co_await as_result(service.call<int>(count, std::string()));
  if (!none) std::printf("%s\n", none.failure().what());
  co_await service.call<void>(leave);
}

task<void> play(context& ctx) {
  group world = ctx.world();
  if (world.rank() == 0) return serve(ctx, world.size() - 1);
  return use(world[0], world.rank() == 1 ? "warp" : "weft");
}

int main() { return run_main(play); }
