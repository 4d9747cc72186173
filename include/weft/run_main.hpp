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

/// Prints "program: what" on stderr. Any thread.
/// \return EXIT_FAILURE
int report_failure(const std::exception_ptr& failure) noexcept;

}  // namespace detail

/// Makes a context from the environment and runs `play(context, args...)` to its end: `int main() {
/// return weft::run_main(play); }`. A failure, also of the context itself, is printed on stderr as
/// `program: reason`, before the context ends. weft has no options on the command line; the
/// program's own are passed through: `run_main(play, argc, argv)`.
/// \param play a function to `task<void>`, or to `task<int>`: the exit status
/// \param args passed to `play` as they are; they live until the end
/// \return the exit status for main: 0, what the task returns, or EXIT_FAILURE after a failure
template <class Play, class... Args>
int run_main(Play play, Args&&... args) noexcept {
  static_assert(std::is_invocable_v<Play&, context&, Args...>,
                "run_main calls play(context&, arguments of run_main...)");
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
      return detail::report_failure(std::current_exception());
    }
  } catch (...) {
    return detail::report_failure(std::current_exception());
  }
}

}  // namespace weft
