// SPDX-License-Identifier: Apache-2.0
// run_main: the whole main function of a usual program.
#pragma once

#include <exception>
#include <functional>
#include <type_traits>
#include <utility>

#include <weft/run.hpp>

namespace weft {

namespace detail {

/// Makes standard output that is a pipe, as that to a launcher, line-buffered like a terminal.
void print_lines() noexcept;

/// Prints "program: what" on stderr. Any thread.
/// \return EXIT_FAILURE
int report_failure(const std::exception_ptr& failure) noexcept;

}  // namespace detail

/// Makes a context from the environment and runs `play(context, args...)` to its end: `int main() {
/// return weft::run_main(play); }`. A failure, also of the context itself, is printed on stderr as
/// `program: reason`, before the context ends; peers then find this one lost, as if it had died.
/// Into a pipe, standard output is written line by line: a launcher shows lines as they come, and
/// also those of a process that is killed. weft has no options on the command line; the program's
/// own are passed through: `run_main(play, argc, argv)`.
/// \param play a function to `task<void>`, or to `task<int>`: the exit status
/// \param args passed to `play` as they are; they live until the end
/// \return the exit status for main: 0, what the task returns, or EXIT_FAILURE after a failure
template <class Play, class... Args>
int run_main(Play play, Args&&... args) noexcept {
  static_assert(std::is_invocable_v<Play&, context&, Args...>,
                "run_main calls play(context&, arguments of run_main...)");
  // The failure is printed before the context ends, which it may keep waiting, and then leaves the
  // context's scope, so that peers learn of a failure.
  int status = 0;
  detail::print_lines();
  try {
    context ctx;
    try {
      if constexpr (std::is_same_v<std::invoke_result_t<Play&, context&, Args...>, task<int>>) {
        return run(ctx, std::invoke(play, ctx, std::forward<Args>(args)...));
      } else {
        run(ctx, std::invoke(play, ctx, std::forward<Args>(args)...));
        return 0;
      }
    } catch (...) {
      status = detail::report_failure(std::current_exception());
      throw;
    }
  } catch (...) {
    return status != 0 ? status : detail::report_failure(std::current_exception());
  }
}

}  // namespace weft
