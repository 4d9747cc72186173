// SPDX-License-Identifier: Apache-2.0
// A rank that is started with standard input, output and error closed, prints to them all the same,
// and talks to the others. Exit status 3: these numbers belong to something of weft.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <exception>

#include <weft/weft.hpp>

namespace {

using namespace weft;

/// What a process finds there that has them closed.
void print_in_vain() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    char byte = 'x';
    const bool wrote = ::write(fd, &byte, 1) >= 0 || errno != EBADF;
    if (wrote || ::read(fd, &byte, 1) >= 0 || errno != EBADF) std::_Exit(3);
  }
}

task<void> play(context& ctx) {
  print_in_vain();
  const group all = ctx.world();
  const auto numbers = co_await all.all_gather(unsigned{all.rank()});
  listener door = co_await ctx.listen("any://:0");
  print_in_vain();
  for (unsigned i = 0; i != numbers.size(); ++i)
    if (numbers[i] != i) std::_Exit(4);
  co_await all.barrier();
}

}  // namespace

int main() {
  try {
    context ctx;
    run(ctx, play(ctx));
    print_in_vain();
    return 0;
  } catch (const std::exception&) {
    return 1;
  }
}
