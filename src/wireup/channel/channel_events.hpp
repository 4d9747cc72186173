// SPDX-License-Identifier: Apache-2.0
// What a channel reports.
#pragma once

#include <weft/transport/wireup_message.hpp>

#include "proto/support/ended.hpp"
#include "wireup/channel/channel.hpp"

namespace weft::wireup {

/// Of live channels. Called on the manager's thread, one call at a time, without any lock held; may
/// call back into the manager. Outlives the channels.
class channel_events {
 public:
  /// A wire-up message has arrived on a channel, which may be kept. If it throws, the channel ends.
  virtual void on_wireup_message(const channel_ptr& c, transports::wireup_message m) = 0;
  /// The channel has ended. Once for each channel that was live, also after this side's close().
  /// May throw std::bad_alloc, and is called again then.
  virtual void on_ended(const channel_ptr& c, const proto::ended& how) = 0;

 protected:
  ~channel_events() = default;
};

}  // namespace weft::wireup
