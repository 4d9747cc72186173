// SPDX-License-Identifier: Apache-2.0
// The transport qdma of a build without it: it can never be used, and says why.
#include "transports/qdma/factory.hpp"

namespace weft::transports::qdma {

std::string probe() { return "not built in (WEFT_WITH_QDMA)"; }

std::unique_ptr<transport> make(runtime::engine&, copy_completion) {
  throw error(errc::unsupported, probe());
}

}  // namespace weft::transports::qdma
