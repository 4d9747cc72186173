// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/link.hpp"

#include <algorithm>

namespace weft::transports::fake {

fake_link::~fake_link() { std::erase(transport_.out_, wire_.get()); }

post fake_link::send(const frame_header& header, const frame_extension* extension,
                     gather& data) noexcept {
  wire& w = *wire_;
  world& where = transport_.world_;
  if (w.broken || transport_.dead_) return post::failed;
  if (w.frames.size() >= where.settings_.room) {
    w.refused = true;
    return post::busy;
  }
  wire::frame f{where.arrival(), header, extension != nullptr,
                extension ? *extension : frame_extension{}, std::vector<std::byte>(header.size)};
  if (!w.frames.empty()) f.due = std::max(f.due, w.frames.back().due);
  for (std::size_t done = 0; done != header.size;) {
    const const_buffer run = data.run(header.size - done);
    std::copy(run.begin(), run.end(), f.payload.begin() + static_cast<std::ptrdiff_t>(done));
    done += run.size();
    data.skip(run.size());
  }
  w.frames.push_back(std::move(f));
  return post::done;
}

post fake_link::get(scatter into, remote_address from, std::size_t size) noexcept {
  if (transport_.world_.settings_.memory != memory::readable || wire_->broken) return post::failed;
  const auto* at = reinterpret_cast<const std::byte*>(from.offset);
  while (size != 0) {
    const mutable_buffer run = into.run(size);
    if (run.empty()) break;
    std::copy_n(at, run.size(), run.begin());
    at += run.size();
    size -= run.size();
    into.skip(run.size());
  }
  return post::done;
}

std::optional<remote_address> fake_link::expose(const_buffer data) noexcept {
  if (transport_.world_.settings_.memory == memory::hidden) return {};
  return remote_address{0, reinterpret_cast<std::uintptr_t>(data.data())};
}

}  // namespace weft::transports::fake
