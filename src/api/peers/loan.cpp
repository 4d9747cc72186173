// SPDX-License-Identifier: Apache-2.0
#include <weft/loan.hpp>

#include "api/core/core.hpp"

weft::detail::loan_memory weft::detail::take_loan(context& of, std::size_t size) {
  return core_of(of).make_loan(size);
}
