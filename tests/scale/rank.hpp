// SPDX-License-Identifier: Apache-2.0
// One virtual rank: what a context has of its own for messages and collectives.
#pragma once

#include <memory>
#include <vector>

#include "collectives/communicator.hpp"
#include "proto/messenger/messenger.hpp"
#include "scale/network.hpp"

namespace scale {

/// A link that a rank has asked for.
struct wanted_link {
  peer_id from;
  weft::proto::peer* to;
};

/// Real messenger, real communicator; the engine is shared by all ranks, which do not run at the
/// same time.
class rank final : weft::proto::connector {
 public:
  /// \param wanted takes the links that this rank asks for
  rank(weft::runtime::engine& e, std::vector<wanted_link>& wanted, peer_id number,
       weft::collectives::group_shape shape)
      : messages(e, settings_of(number)), wanted_(wanted), number_(number) {
    messages.attach(*this);
    messages.peers().reserve_ranks(shape.ranks);
    group = std::make_shared<weft::collectives::communicator>(messages, 0, number, shape,
                                                              std::vector<peer_id>{});
  }

  weft::proto::messenger messages;
  std::shared_ptr<weft::collectives::communicator> group;

 private:
  static weft::proto::messenger_settings settings_of(peer_id number) {
    weft::proto::messenger_settings s;
    s.unexpected_budget = std::size_t{64} << 20;
    s.secret = [next = std::uint64_t{number} << 32]() mutable { return ++next; };
    return s;
  }
  void connect(weft::proto::peer& p) noexcept override { wanted_.push_back({number_, &p}); }

  std::vector<wanted_link>& wanted_;
  const peer_id number_;
};

}  // namespace scale
