// SPDX-License-Identifier: Apache-2.0
// The functions of libpmix, loaded when a PMIx launcher started the process. docs/adr/0009.
#pragma once

#include <pmix.h>

namespace weft::wireup {

/// Loaded once and never unloaded: the library keeps a thread of its own and exists once per
/// process.
struct pmix_library {
  /// \throws weft::error (unsupported) when it cannot be loaded
  pmix_library();

  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Get_nb) get_nb;
  decltype(&PMIx_Error_string) error_string;
};

}  // namespace weft::wireup
