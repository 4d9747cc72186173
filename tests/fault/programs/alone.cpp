// SPDX-License-Identifier: Apache-2.0
// A context that sends messages to itself, small and large. Its first line says that its libraries
// have been loaded. Exit status 1 if that failed with a
// weft::error, 3 if with anything else.
#include <cstddef>
#include <iostream>
#include <new>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

task<void> talk(context& ctx) {
  const endpoint self = ctx.world()[0];
  for (const std::size_t size : {std::size_t{8}, std::size_t{1} << 20}) {
    const std::vector<std::byte> out(size, std::byte{1});
    std::vector<std::byte> in(size);
    scope both;
    both.start(self.recv(in, tag{1}));
    both.start(self.send(out, tag{1}));
    co_await both.join();
  }
}

}  // namespace

int main() {
  std::cerr << "alone: begins" << std::endl;
  try {
    context ctx;
    run(ctx, talk(ctx));
  } catch (const error& e) {
    std::cerr << "alone: " << e.what() << std::endl;
    return 1;
  } catch (const std::bad_alloc&) {
    // No memory for the program's own buffers or coroutines is no fault of weft.
    std::cerr << "alone: out of memory" << std::endl;
    return 1;
  } catch (const std::exception& e) {
    std::cerr << "alone: an exception of another kind: " << e.what() << std::endl;
    return 3;
  }
}
