// SPDX-License-Identifier: Apache-2.0
// The transport qdma of a build without it: it can never be used, and says why.
#include "transports/qdma/factory.hpp"

namespace weft::transports::qdma {

factory kind() {
  return {"qdma", [](services&, const options&, std::string& why) -> std::unique_ptr<transport> {
            why = "not built in (WEFT_WITH_QDMA)";
            return nullptr;
          }};
}

}  // namespace weft::transports::qdma
