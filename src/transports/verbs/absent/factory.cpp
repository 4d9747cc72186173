// SPDX-License-Identifier: Apache-2.0
// The transport verbs of a build without it: it can never be used, and says why.
#include "transports/verbs/factory.hpp"

namespace weft::transports::verbs {

std::string explain_frame(std::size_t) { return {}; }

std::pair<std::string, std::string> explain_copy(std::size_t) { return {}; }

std::unique_ptr<transport> make(runtime::engine&, const settings&, std::string& why) {
  why = "not built in (WEFT_WITH_VERBS)";
  return nullptr;
}

}  // namespace weft::transports::verbs
