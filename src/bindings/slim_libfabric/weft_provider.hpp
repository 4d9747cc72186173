// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <rdma/providers/fi_prov.h>

namespace weft::slim {

/// weft's provider, loaded on the first call from the first folder of FI_PROVIDER_PATH that has it,
/// and told to clean up when this library goes. Any thread. \return null: there is none, and the
/// log says why
fi_provider* weft_provider() noexcept;

/// Whether hints or attributes that name `provider` (null: none) mean weft's.
bool means_weft(const char* provider) noexcept;

}  // namespace weft::slim
