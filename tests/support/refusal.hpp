// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <weft/error.hpp>

#include "support/catch.hpp"

namespace weft::tests {

/// The text of a call that fails with invalid_argument.
template <class F>
std::string refusal(F f) {
  try {
    f();
  } catch (const error& e) {
    CHECK(e.kind() == errc::invalid_argument);
    return e.what();
  }
  return "it was done";
}

}  // namespace weft::tests
