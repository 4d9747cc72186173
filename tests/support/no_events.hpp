// SPDX-License-Identifier: Apache-2.0
// Events of a connection manager for tests, which override those that they look at.
#pragma once

#include "wireup/manager/manager_events.hpp"

namespace weft::tests {

/// Takes all channels itself, and drops what comes.
class no_events : public wireup::manager_events, public wireup::channel_events {
 public:
  virtual ~no_events() = default;
  wireup::channel_events& on_live(const wireup::channel_ptr&) noexcept override { return *this; }
  void on_wireup_message(const wireup::channel_ptr&, transports::wireup_message) override {}
  void on_ended(const wireup::channel_ptr&, const proto::ended&) override {}
  void on_notice(const std::string&) override {}
};

}  // namespace weft::tests
