// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <optional>
#include <string>
#include <weft/weft.hpp>

using namespace weft;

task<void> number_lines(context& ctx, std::size_t& lines) {
  line_reader input(ctx, STDIN_FILENO);
  for (;;) {
    std::optional<std::string> line = co_await input.next();
    if (!line) co_return;
    std::printf("%zu: %s\n", ++lines, line->c_str());
  }
}

task<void> play(context& ctx) {
  signal_set end(ctx, {SIGINT, SIGTERM});  // early, before other threads start

  std::string name = co_await read_file<std::string>(ctx, "/proc/self/comm");
  std::printf("the name of this process: %s", name.c_str());

  // The end of the input, or a signal, whichever comes first.
  std::size_t lines = 0;
  auto which = co_await when_any(number_lines(ctx, lines), end.next());
  std::printf("%s after %zu lines\n", which.index() == 0 ? "the end" : "a signal", lines);
}

int main() { return run_main(play); }
