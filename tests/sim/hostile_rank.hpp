// SPDX-License-Identifier: Apache-2.0
// A rank that breaks the rules.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "runtime/progress/engine.hpp"
#include "sim/log.hpp"
#include "sim/plan.hpp"
#include "support/hostile_frames.hpp"

namespace sim {

/// Has links like any rank, and no messenger: weft::tests::hostile_frames makes the frames that it
/// sends. It learns numbers and addresses from the frames that it receives. It reads when it
/// chooses: otherwise its node is stalled.
class hostile_rank {
 public:
  hostile_rank(fake::world& w, node number, const scenario& p, log& l);
  ~hostile_rank();

  weft::runtime::engine& engine() noexcept { return engine_; }

  // --- links, as the control plane asks for them ------------------------------------------------

  weft::transports::transport& way(std::size_t n) noexcept { return *ways_[n]; }
  /// The frame sink for the frames of a rank by that link.
  weft::transports::frame_sink& frame_sink(node from, std::size_t way);
  /// Whether it accepts a rank's links, and never answers.
  bool keeps_silent(node from) const;
  /// Units that it grants a rank that connects: more than it has memory for, or none.
  std::uint32_t grants(node from);
  /// The links that it opened may be used from now on.
  void linked(node to, std::vector<std::unique_ptr<weft::transports::link>> links,
              std::uint32_t credit);
  bool has_links(node to) const;

  // --- what it does ----------------------------------------------------------------------------

  /// It may access that memory of a rank, if the rank tells it in time.
  void knows_region(node whose, std::uint64_t key, std::uint64_t first, std::uint64_t size);
  /// Sends one frame, or reads or writes the rank's memory.
  /// \return failed: nothing can be sent to that rank any more
  weft::transports::post speak(node to, dice& d, const weft::tests::temper& t);
  /// The next frame stops in the middle, and no frame follows it.
  void stop_in_next(std::uint32_t after) { stops_after_ = after; }

 private:
  struct ear;
  struct victim {
    weft::tests::hostile_frames talk;
    std::vector<std::unique_ptr<ear>> ears;  // one for each link
    std::vector<std::unique_ptr<weft::transports::link>> links;
    std::optional<weft::tests::hostile_frame> unsent{};  // there was no room for it
    std::size_t lane = 0;                                // of several links: the next one
    std::uint64_t ordered = 0, fragments = 0;            // frames on several links so far
    std::optional<std::uint64_t> gap{};                  // a number that it keeps back for a while
    unsigned until_filled = 0;
  };

  victim& of(node n);
  weft::transports::post send(victim& v, dice& d);
  weft::transports::post touch(victim& v, dice& d);

  fake::world& world_;
  const node number_;
  const scenario& plan_;
  log& log_;
  weft::runtime::engine engine_;
  std::vector<std::unique_ptr<weft::transports::transport>> ways_;
  std::map<node, std::unique_ptr<victim>> victims_;
  std::vector<std::byte> memory_;  // what it sends, and what is written to it
  std::vector<weft::const_buffer> parts_;
  std::vector<weft::mutable_buffer> into_;
  std::optional<std::uint32_t> stops_after_;
};

}  // namespace sim
