// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/wire.hpp"

#include <algorithm>

namespace weft::transports::fake {

void take(gather& data, std::vector<std::byte>& into) noexcept {
  for (std::size_t done = 0; done != into.size();) {
    const const_buffer run = data.run(into.size() - done);
    std::copy(run.begin(), run.end(), into.begin() + static_cast<std::ptrdiff_t>(done));
    done += run.size();
    data.skip(run.size());
  }
}

void wire::let_go() noexcept {
  if (!held) return;
  take(*held, frames.back().payload);
  held.reset();
  refused = true;  // a sender that waits for this gets on_writable
}

void wire::drop_frames() noexcept {
  frames.clear();
  held.reset();
  placing = stuck = false;
}

}  // namespace weft::transports::fake
