// SPDX-License-Identifier: Apache-2.0
// Options that a program made by itself are checked as those of the environment are.
#pragma once

#include <weft/options.hpp>

namespace weft::detail {

/// The same, if each could be said by its variable, too. \throws weft::error (invalid_argument)
/// that names the option, the variable, and what is allowed
options checked(options chosen);

}  // namespace weft::detail
