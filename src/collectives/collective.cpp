// SPDX-License-Identifier: Apache-2.0
#include "collectives/collective.hpp"

#include "collectives/algorithm.hpp"

namespace weft::collectives {

void collective::ending::throw_failure() {
  try {
    std::rethrow_exception(failure_);
  } catch (const error& e) {
    throw of_.of().fail(e);
  } catch (const std::exception& e) {
    static_cast<void>(of_.of().fail(error(errc::refused, e.what())));
    throw;  // the application's own: of an operation of a reduction, or no memory
  }
}

task<void> run(detail::communicator_ptr of, collective_call made, arguments with,
               algorithm_steps steps) {
  const collective now = co_await begin(of, made, with.number);
  std::exception_ptr failure;
  try {
    co_await steps(now, with);
  } catch (...) {
    failure = std::current_exception();
  }
  co_await now.end(std::move(failure));
}

}  // namespace weft::collectives
