// SPDX-License-Identifier: Apache-2.0
// The transports of a context, in order of preference.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <weft/transport/transport.hpp>

#include "proto/rails/multi_rail_link.hpp"

namespace weft::connections {

/// Filled while the context is made, constant afterwards, so that any thread may read it. The
/// transports themselves want the progress lock.
class transport_list {
 public:
  struct entry {
    std::unique_ptr<transports::transport> transport;
    std::string name;
    /// As place_in says of options::transports, which are the same in all processes that connect to
    /// each other, as far as the shorter list goes. A transport that cannot be used here is missing
    /// in this list.
    std::uint16_t place = 0;
  };

  /// A transport of the options that is not used.
  struct exclusion {
    std::string name;
    std::string reason;  ///< for people
    std::uint16_t place = 0;
  };

  void add(std::unique_ptr<transports::transport> made, std::string name, std::uint16_t place);
  void exclude(std::string name, std::string reason, std::uint16_t place);

  std::size_t size() const noexcept { return entries_.size(); }
  const entry& operator[](std::size_t index) const noexcept { return entries_[index]; }
  auto begin() const noexcept { return entries_.begin(); }
  auto end() const noexcept { return entries_.end(); }
  const std::vector<exclusion>& excluded() const noexcept { return excluded_; }
  /// A line for each transport that is not used.
  const std::string& notes() const noexcept { return notes_; }

  /// \return the index of the transport with that place; nothing: this side does not have it
  std::optional<std::size_t> find(std::uint16_t place) const noexcept;

  /// Why this side refuses an offer of a transport that `find` does not find. \throws
  /// std::bad_alloc
  std::string refusal_of(std::uint16_t place) const;

  /// Whether one of them passes other descriptors than memory files (its traits).
  bool pass_any_descriptor() const noexcept;

  /// How many links to one peer that transport is used with at once.
  std::size_t links_per_peer(std::size_t index) const noexcept;

  /// Progress lock held. The several links of that transport to a peer; null: the peer has one
  /// link, or several of another transport.
  proto::multi_rail_link* multi_rail_link_of(const proto::peer& p,
                                             std::size_t index) const noexcept;

  /// Progress lock held. The frame sinks that the transport delivers to, for a peer: the peer
  /// itself, or one for each of several links; none: no link was made. \throws std::bad_alloc
  std::vector<transports::frame_sink*> frame_sinks_of(proto::peer& p, std::size_t index) const;

  /// Progress lock held. One line about the transport that a peer is reached by. \throws
  /// std::bad_alloc
  std::string describe(const proto::peer& p) const;

 private:
  std::vector<entry> entries_;
  std::vector<exclusion> excluded_;
  std::string notes_;
};

}  // namespace weft::connections
