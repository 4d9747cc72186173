// SPDX-License-Identifier: Apache-2.0
#include <weft/transport/unique_fd.hpp>

#include <unistd.h>

#include "runtime/descriptors/disposal.hpp"

namespace weft {

void unique_fd::close() noexcept {
  if (disposal_)
    disposal_->close(fd_);
  else
    ::close(fd_);
}

}  // namespace weft
