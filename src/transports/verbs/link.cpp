// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/link.hpp"

#include <cstring>

#include "transports/verbs/transport.hpp"

namespace weft::transports::verbs {

namespace {

/// Header and extension. \return where the payload begins
std::byte* write_head(std::byte* at, const frame_header& h, const frame_extension* x) noexcept {
  std::memcpy(at, &h, sizeof h);
  if (x) std::memcpy(at + sizeof h, x, extension_size(h));
  return at + sizeof h + extension_size(h);
}

}  // namespace

send_link::send_link(pair& with) noexcept : link(with.owner().traits()), pair_(with) {}

send_link::~send_link() { pair_.link_ended(); }

std::string send_link::opened(parcel answer) { return pair_.take_answer(answer); }

post send_link::send_together(frame_header header, const frame_extension* extension,
                              const std::byte* data) noexcept {
  const std::size_t bytes = sizeof header + extension_size(header) + header.size;
  std::byte* const at = pair_.begin_frame(bytes);
  if (!at) return pair_.not_now(bytes);
  std::byte* const payload = write_head(at, header, extension);
  if (header.size != 0) std::memcpy(payload, data, header.size);
  return pair_.end_frame(bytes);
}

post send_link::send(const frame_header& header, const frame_extension* extension,
                     gather& data) noexcept {
  const std::size_t bytes = sizeof header + extension_size(header) + header.size;
  std::byte* const at = pair_.begin_frame(bytes);
  if (!at) return pair_.not_now(bytes);
  std::byte* to = write_head(at, header, extension);
  gather from = data;
  for (std::size_t left = header.size; left != 0;) {
    const const_buffer run = from.run(left);
    std::memcpy(to, run.data(), run.size());
    to += run.size();
    left -= run.size();
    from.skip(run.size());
  }
  const post answer = pair_.end_frame(bytes);
  if (answer == post::done) data = from;
  return answer;
}

}  // namespace weft::transports::verbs
