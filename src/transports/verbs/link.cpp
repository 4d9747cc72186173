// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/link.hpp"

#include <cstring>

#include "transports/verbs/transport.hpp"

namespace weft::transports::verbs {

namespace {

/// Writes header and extension. \return where the payload begins
std::byte* write_head(std::byte* at, const frame_header& h, const frame_extension* x) noexcept {
  std::memcpy(at, &h, sizeof h);
  if (x) std::memcpy(at + sizeof h, x, extension_size(h));
  return at + sizeof h + extension_size(h);
}

}  // namespace

send_link::send_link(pair& with) noexcept : link(with.owner().traits()), pair_(with) {}

send_link::~send_link() { pair_.link_ended(); }

std::string send_link::opened(wireup_message answer) { return pair_.take_answer(answer); }

post send_link::send_contiguous(frame_header header, const frame_extension* extension,
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

// --- memory --------------------------------------------------------------------------------------

post send_link::get(scatter into, remote_address from, std::size_t size,
                    std::uint64_t cookie) noexcept {
  return pair_.read(into, from, size, cookie);
}

preference send_link::prefers_get(remote_address, std::size_t size) const noexcept {
  return size >= transfers::least && pair_.can_read() ? preference::yes : preference::no;
}

std::optional<remote_address> send_link::expose(const_buffer data) noexcept {
  // No peer gets the right to write there.
  return pair_.show({const_cast<std::byte*>(data.data()), data.size()}, memory_access::read);
}

post send_link::put(gather data, remote_address to, std::size_t size,
                    std::uint64_t cookie) noexcept {
  return pair_.write(data, to, size, cookie);
}

/// A put is better than a read, since the news of its end goes right behind it.
bool send_link::prefers_put(std::size_t size) const noexcept {
  return size >= transfers::least && pair_.can_write();
}

std::optional<remote_address> send_link::expect(mutable_buffer into) noexcept {
  return pair_.show(into, memory_access::write);
}

void send_link::withdraw(remote_address what) noexcept { pair_.withdraw(what); }

void send_link::let_go() noexcept { pair_.let_go(); }

std::string send_link::trouble() const { return pair_.trouble(); }

}  // namespace weft::transports::verbs
