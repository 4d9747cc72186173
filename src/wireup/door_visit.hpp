// SPDX-License-Identifier: Apache-2.0
// A visitor at a door, in the hands of whoever decides.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "wireup/channel.hpp"

namespace weft::wireup {

/// One thread at a time, any thread; may outlive the manager.
class pending_visit final : public door_visit {
 public:
  pending_visit(std::shared_ptr<loop> on, std::shared_ptr<peer_channel> who, identity self,
                std::string greeting)
      : loop_(std::move(on)),
        who_(std::move(who)),
        self_(std::move(self)),
        greeting_(std::move(greeting)) {}

  ~pending_visit() override { refuse("the listener did not let it in"); }

  const identity& peer() const noexcept override { return who_->peer(); }
  const std::string& greeting() const noexcept override { return greeting_; }

  channel_ptr accept() override {
    if (std::exchange(decided_, true) || who_->left()) return nullptr;
    if (!loop_->post([who = who_, self = self_] { who->admit(self); })) return nullptr;
    return who_;
  }

  void reject(const std::string& reason) override { refuse(reason); }

 private:
  void refuse(const std::string& reason) {
    if (std::exchange(decided_, true)) return;
    loop_->post([who = who_, reason] { who->refuse(reason); });
  }

  const std::shared_ptr<loop> loop_;
  const std::shared_ptr<peer_channel> who_;
  const identity self_;
  const std::string greeting_;
  bool decided_ = false;
};

}  // namespace weft::wireup
