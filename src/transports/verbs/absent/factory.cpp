// SPDX-License-Identifier: Apache-2.0
// The transport verbs of a build without it: it can never be used, and says why.
#include "transports/verbs/factory.hpp"

namespace weft::transports::verbs {

factory kind() {
  return {"verbs", [](services&, const options&, std::string& why) -> std::unique_ptr<transport> {
            why = "not built in (WEFT_WITH_VERBS)";
            return nullptr;
          }};
}

}  // namespace weft::transports::verbs
