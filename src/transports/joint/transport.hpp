// SPDX-License-Identifier: Apache-2.0
// Several transports that reach the same peers, as one with several links.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "transports/transport.hpp"

namespace weft::transports::joint {

/// Its links to a peer are those of its parts, one after the other; a bundle stripes over them as
/// over several links of one transport. It moves nothing itself: each link is a part's, and the
/// engine polls the parts. Baton held only.
class joint_transport final : public transport {
 public:
  /// See joint::make.
  joint_transport(std::string name, std::vector<std::unique_ptr<transport>> parts);

  const transports::traits& traits() const noexcept override { return traits_; }
  std::string reach(bool is_self) const override;
  std::unique_ptr<link> open(inlet& from, const counterpart& who, parcel& offer) override;
  std::string accept(inlet& to, const counterpart& who, parcel offer, parcel& answer) override;
  void note(inlet& from, parcel p) override;
  bool hear_out(inlet& from) noexcept override;
  void forget(inlet& from) noexcept override;
  void forget_memory(std::span<const std::byte> memory) noexcept override;
  void add_to(metrics& m) const noexcept override;
  std::string describe() const override;
  std::string describe(const inlet& peer) const override;

  // Not a source of the engine's.
  unsigned poll() noexcept override { return 0; }
  bool has_work() noexcept override { return false; }
  void nudge() noexcept override {}

 private:
  transport& part_for(const inlet& peer, counterpart& who);

  const std::string name_;
  const std::vector<std::unique_ptr<transport>> parts_;
  transports::traits traits_;
  std::unordered_map<const inlet*, transport*> part_of_;
};

}  // namespace weft::transports::joint
