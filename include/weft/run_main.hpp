// SPDX-License-Identifier: Apache-2.0
// run_main: the whole main function of a usual program.
#pragma once

#include <exception>
#include <type_traits>

#include <weft/run.hpp>

namespace weft {

namespace detail {

/// Prints "program: what" on stderr. Any thread. \return EXIT_FAILURE
int report_failure(const std::exception_ptr& failure) noexcept;

}  // namespace detail

/// Makes a context from the environment and runs `play(context)` to its end: `int main() { return
/// weft::run_main(play); }`. A failure, also of the context itself, is printed on stderr as
/// `program: reason`, before the context ends.
/// \param play a function from `context&` to `task<void>`, or to `task<int>`: the exit status
/// \return the exit status for main: 0, what the task returns, or EXIT_FAILURE after a failure
template <class Play>
int run_main(Play play) noexcept {
  try {
    context ctx;
    try {
      if constexpr (std::is_same_v<decltype(play(ctx)), task<int>>) {
        return run(ctx, play(ctx));
      } else {
        run(ctx, play(ctx));
        return 0;
      }
    } catch (...) {
      return detail::report_failure(std::current_exception());
    }
  } catch (...) {
    return detail::report_failure(std::current_exception());
  }
}

}  // namespace weft
