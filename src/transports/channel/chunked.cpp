// SPDX-License-Identifier: Apache-2.0
#include "transports/channel/chunked.hpp"

#include <algorithm>
#include <cstring>

namespace weft::transports::channel {

std::size_t chunked_channel::put_copied(gather& from, std::size_t size) {
  std::size_t n = 0;
  for (std::size_t room = chunks_.room(); room != 0 && n != size; room = chunks_.room()) {
    const std::size_t part = std::min(size - n, chunks_.payload());
    copy_out(chunks_.place(part), from, part);
    chunks_.fill(chunk_kind::data, part);
    if (!together_) chunks_.post();
    n += part;
  }
  chunks_.post();
  return n;
}

std::size_t chunked_channel::get_copied(scatter& to) {
  std::size_t n = 0;
  while (const chunks::arrived* const next = to.run(1).empty() ? nullptr : chunks_.front()) {
    if (next->kind != chunk_kind::data) break;
    const mutable_buffer run = to.run(next->bytes.size());
    std::memcpy(run.data(), next->bytes.data(), run.size());
    to.skip(run.size());
    n += run.size();
    chunks_.take(run.size());
  }
  return n;
}

}  // namespace weft::transports::channel
