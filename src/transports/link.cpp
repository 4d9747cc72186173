// SPDX-License-Identifier: Apache-2.0

#include <weft/transport/link.hpp>

namespace weft::transports {

// Not in the header: the compiler would put it into the callers beside the virtual call, and save
// registers there for every small message.
post link::send_contiguous(frame_header header, const frame_extension* extension,
                           const std::byte* data) noexcept {
  const const_buffer one(data, header.size);
  gather pieces({&one, 1});
  return send(header, extension, pieces);
}

}  // namespace weft::transports
