// SPDX-License-Identifier: Apache-2.0
// Why a channel did not come to be.
#pragma once

#include <string>

#include <weft/error.hpp>

namespace weft::wireup {

/// A value. Between processes only refusals travel, as their text.
struct failure {
  errc kind = errc::ok;  ///< ok: nothing failed
  std::string text;      ///< one sentence: what was tried, why it failed, the cure
};

}  // namespace weft::wireup
