// SPDX-License-Identifier: Apache-2.0
// Why there is no channel.
#pragma once

#include <string>

#include <weft/error.hpp>

namespace weft::wireup {

/// A value. Only the text of a refusal travels between processes.
struct failure {
  errc kind = errc::ok;  ///< ok: nothing failed
  std::string text;      ///< one sentence: what was tried, why it failed, the cure
};

}  // namespace weft::wireup
