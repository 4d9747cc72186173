// SPDX-License-Identifier: Apache-2.0
// Joins several transports that reach the same peers into one with several links.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <weft/transport/transport.hpp>

namespace weft::transports::composite {

/// Its links to a peer are those of its parts, one after the other; a multi-rail link stripes over
/// them as over several links of one transport. The object moves no frames itself: each link
/// belongs to a part, and the engine polls the parts. Progress lock held only.
class composite_transport final : public transport {
 public:
  /// See composite::make (factory.hpp).
  composite_transport(std::string name, std::vector<std::unique_ptr<transport>> parts,
                      std::optional<std::size_t> shm_limit);

  const transports::traits& traits() const noexcept override { return traits_; }
  std::string reach(bool is_self) const override;
  std::unique_ptr<link> open(frame_sink& from, const counterpart& who,
                             wireup_message& offer) override;
  std::string accept(frame_sink& to, const counterpart& who, wireup_message offer,
                     wireup_message& answer) override;
  void note(frame_sink& from, wireup_message p) override;
  bool drain_peer(frame_sink& from) noexcept override;
  void forget(frame_sink& from) noexcept override;
  void invalidate_registrations(std::span<const std::byte> memory) noexcept override;
  void add_to(metrics& m) const noexcept override;
  void add_peer_to(const frame_sink& peer, peer_metrics& m) const noexcept override;
  std::span<std::byte> allocate(std::size_t size) override;
  void deallocate(std::span<std::byte> memory) noexcept override;
  std::string explain_frames(std::size_t size) const override;
  std::vector<explained_way> explain_rest(const rest_question& q) const override;
  std::string describe() const override;
  std::string describe(const frame_sink& peer) const override;

 private:
  std::string parts_that(bool share_memory) const;
  transport& part_for(const frame_sink& peer, counterpart& who);

  const std::string name_;
  const std::vector<std::unique_ptr<transport>> parts_;
  const std::optional<std::size_t> shm_limit_;
  transports::traits traits_;
  std::unordered_map<const frame_sink*, transport*> part_of_;
  std::unordered_map<const std::byte*, transport*> allocated_by_;
};

}  // namespace weft::transports::composite
