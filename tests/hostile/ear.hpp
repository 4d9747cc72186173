// SPDX-License-Identifier: Apache-2.0
// One link between a context of the attacker and the victim, with the frames received over it.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <weft/transport/transport.hpp>

#include "proto/frames/frames.hpp"
#include "runtime/descriptors/memory_file.hpp"

namespace hostile {

using weft::proto::frame_extension;
using weft::proto::frame_header;
using weft::proto::frame_kind;

/// A frame that came from the victim.
struct heard {
  frame_header header;
  frame_extension extension;              ///< zeros: there was no extension
  std::array<std::byte, 64> beginning{};  ///< of the payload
};

/// The protocol's side of one link of one transport. Keeps the received frames, so that they can be
/// answered correctly or falsely. The attacker's thread, with the progress lock of its engine.
class ear final : public weft::transports::frame_sink {
 public:
  /// \param keep where received frames are put, unpacked
  ear(std::deque<heard>& keep, std::function<void(const heard&)> told)
      : heard_(keep), told_(std::move(told)) {}

  bool on_frame(const frame_header& h, const frame_extension* x,
                const std::byte* payload) noexcept override;
  weft::mutable_buffer place(const frame_header&, const frame_extension*,
                             std::uint32_t) noexcept override {
    return {};
  }
  void on_writable() noexcept override {}
  void on_broken(weft::errc) noexcept override { broken = true; }

  bool broken = false;

 private:
  static constexpr std::size_t most_kept = 64;
  void keep(const heard& h);

  std::deque<heard>& heard_;
  const std::function<void(const heard&)> told_;
};

/// One link, in its present state.
struct tie {
  tie(std::uint16_t p, std::uint8_t n, std::uint8_t f, weft::transports::transport& t,
      std::deque<heard>& keep, const std::function<void(const heard&)>& told)
      : place(p), number(n), further(f), transport(t), in(keep, told) {}

  const std::uint16_t place;   ///< in the list of transports
  const std::uint8_t number;   ///< of the links at that place
  const std::uint8_t further;  ///< links besides one
  weft::transports::transport& transport;
  ear in;
  std::unique_ptr<weft::transports::link> link;
  bool open = false;            ///< frames can be sent
  bool accepted = false;        ///< the victim's offer was accepted
  std::vector<std::byte> rest;  ///< of a frame; its beginning went past the link
  std::uint64_t next_ordered = 0;
  weft::runtime::mapping memory;  ///< own memory that the victim reads: a ring or a stage
  std::span<std::byte> lendable;  ///< own memory for loans, of the transport; empty: none yet
};

/// "rts tag 7 size 40 flags 83 a 12 b 0".
std::string to_text(const frame_header& h, const frame_extension* x);

}  // namespace hostile
