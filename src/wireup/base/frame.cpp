// SPDX-License-Identifier: Apache-2.0
#include "wireup/base/frame.hpp"

#include <algorithm>

#include "wireup/base/byte_io.hpp"

namespace weft::wireup {

namespace {

/// Only wire-up messages have descriptors, and only they, refusals, byes and dumps have a detail.
bool makes_sense(const frame& f, std::size_t fd_count) {
  if (f.kind == frame_kind::wireup_message) return true;
  std::uint8_t most = 0;
  if (f.kind == frame_kind::refusal) most = static_cast<std::uint8_t>(refusal_kind::not_yet);
  if (f.kind == frame_kind::bye) most = static_cast<std::uint8_t>(bye_kind::no_descriptors);
  if (f.kind == frame_kind::dump_request) most = static_cast<std::uint8_t>(dump_form::json);
  if (f.kind == frame_kind::dump_part) most = 1;  // the last one
  return fd_count == 0 && f.detail <= most;
}

}  // namespace

std::optional<dump_form> form_of_dump(const frame& f) noexcept {
  if (f.kind != frame_kind::dump_request || !f.body.empty() || !f.fds.empty() ||
      f.detail > static_cast<std::uint8_t>(dump_form::json))
    return std::nullopt;
  return static_cast<dump_form>(f.detail);
}

std::array<std::byte, frame_header::size> frame_header::of(const frame& f) {
  byte_writer out;
  out.put(static_cast<std::uint8_t>(f.kind))
      .put(f.detail)
      .put(static_cast<std::uint16_t>(f.fds.size()))
      .put(static_cast<std::uint32_t>(f.body.size()));
  std::array<std::byte, size> bytes{};
  std::ranges::copy(out.take(), bytes.begin());
  return bytes;
}

std::optional<frame> frame_header::parse(std::span<const std::byte> bytes,
                                         std::vector<unique_fd> fds) {
  if (bytes.size() < size) return std::nullopt;
  byte_reader in(bytes.first(size));
  frame f;
  f.kind = static_cast<frame_kind>(in.get<std::uint8_t>());
  f.detail = in.get<std::uint8_t>();
  const std::size_t fd_count = in.get<std::uint16_t>();
  const std::size_t length = in.get<std::uint32_t>();
  const std::span<const std::byte> body = bytes.subspan(size);
  if (fd_count != fds.size() || length != body.size() || length > max_frame_body)
    return std::nullopt;
  if (!makes_sense(f, fd_count)) return std::nullopt;
  f.body.assign(body.begin(), body.end());
  f.fds = std::move(fds);
  return f;
}

}  // namespace weft::wireup
