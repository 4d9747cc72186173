// SPDX-License-Identifier: Apache-2.0
#include "collectives/collective.hpp"

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

}  // namespace weft::collectives
