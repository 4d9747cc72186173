// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/link.hpp"

#include <algorithm>

namespace weft::transports::fake {

fake_link::~fake_link() { std::erase(transport_.out_, wire_.get()); }

post fake_link::send(const frame_header& header, const frame_extension* extension,
                     gather& data) noexcept {
  wire& w = *wire_;
  world& where = transport_.world_;
  const manner& how = transport_.manner_;
  if (w.broken || transport_.dead_) return post::failed;
  if (w.frames.size() >= how.room) {
    w.refused = true;
    where.tell(happening::refused, w, {where.elapsed(), header, false, {}, {}});
    return post::busy;
  }
  wire::frame f{where.arrival(w), header, extension != nullptr,
                extension ? *extension : frame_extension{}, std::vector<std::byte>(header.size)};
  if (!w.frames.empty()) f.due = std::max(f.due, w.frames.back().due);
  for (std::size_t done = 0; done != header.size;) {
    const const_buffer run = data.run(header.size - done);
    std::copy(run.begin(), run.end(), f.payload.begin() + static_cast<std::ptrdiff_t>(done));
    done += run.size();
    data.skip(run.size());
  }
  const std::size_t before = w.frames.size();
  w.frames.push_back(std::move(f));
  if (where.tamper) where.tamper(w);
  for (std::size_t i = before; i < w.frames.size(); ++i)
    where.tell(happening::posted, w, w.frames[i]);
  return post::done;
}

post fake_link::get(scatter into, remote_address from, std::size_t size) noexcept {
  if (transport_.manner_.memory != memory::readable || wire_->broken ||
      !transport_.memory_is_there(wire_->to))
    return post::failed;
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
  if (transport_.manner_.memory == memory::hidden) return {};
  return remote_address{0, reinterpret_cast<std::uintptr_t>(data.data())};
}

}  // namespace weft::transports::fake
