// SPDX-License-Identifier: Apache-2.0
// The WEFT_* variables, for programs that print or document them.
#pragma once

#include <string>
#include <vector>

#include <weft/options.hpp>

namespace weft {

/// One variable of the environment and the option behind it.
struct environment_variable {
  const char* name;
  const char* option;  ///< the member of `options`
  const char* meaning;
  /// Sets the option from the variable's text. \throws weft::error (invalid_argument)
  void (*set)(options& o, const char* name, const std::string& value);
  /// The option as text, as `set` would take it.
  std::string (*get)(const options& o);
};

/// Those that users set, and those of `options::experimental`, each in the order in which to show
/// them. Any thread.
const std::vector<environment_variable>& setting_variables();
const std::vector<environment_variable>& experiment_variables();
/// All of them: first the settings. Any thread.
const std::vector<environment_variable>& environment_variables();

}  // namespace weft
