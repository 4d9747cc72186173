// SPDX-License-Identifier: Apache-2.0
#include "transports/fake/link.hpp"

#include <algorithm>

namespace weft::transports::fake {

fake_link::~fake_link() {
  const auto held = transport_.world_.lock();
  wire_->let_go();
  std::erase(transport_.out_, wire_.get());
  wire_->sender = nullptr;
}

void fake_link::let_go() noexcept {
  const auto held = transport_.world_.lock();
  wire_->let_go();
  wire_->withdrawn = true;
}

bool fake_link::unseen() const noexcept {
  const auto held = transport_.world_.lock();
  return !wire_->frames.empty();
}

bool fake_link::holds() const noexcept {
  const auto held = transport_.world_.lock();
  return wire_->held.has_value();
}

post fake_link::append(const frame_header& header, const frame_extension* extension, gather& data,
                       bool may_hold) noexcept {
  wire& w = *wire_;
  world& where = transport_.world_;
  const manner& how = transport_.manner_;
  const auto held = where.lock();
  if (w.broken || transport_.dead_) return post::failed;
  if (w.frames.size() >= how.room || w.held) {
    w.refused = true;
    where.tell(happening::refused, w, {where.elapsed(), header, false, {}, {}});
    return post::busy;
  }
  wire::frame f{where.arrival(w), header, extension != nullptr,
                extension ? *extension : frame_extension{}, std::vector<std::byte>(header.size)};
  if (!w.frames.empty()) f.due = std::max(f.due, w.frames.back().due);
  const bool holds = may_hold && how.holds && header.size != 0;
  const gather kept = data;
  if (holds)
    data.skip(header.size);
  else
    take(data, f.payload);
  const std::size_t before = w.frames.size();
  w.frames.push_back(std::move(f));
  if (where.tamper) where.tamper(w);
  for (std::size_t i = before; i < w.frames.size(); ++i)
    where.tell(happening::posted, w, w.frames[i]);
  if (holds && w.frames.size() != before) w.held = kept;
  where.wake(w.to);
  return holds ? post::posted : post::done;
}

post fake_link::get(scatter into, remote_address from, std::size_t size, std::uint64_t) noexcept {
  const auto held = transport_.world_.lock();
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
