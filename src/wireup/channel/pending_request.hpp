// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "wireup/channel/incoming_request.hpp"
#include "wireup/channel/peer_channel.hpp"

namespace weft::wireup {

/// The requester's channel, until the application has decided. One thread at a time, any thread;
/// may outlive the manager.
class pending_request final : public incoming_request {
 public:
  /// \param counted released with the decision
  pending_request(std::shared_ptr<loop> on, std::shared_ptr<peer_channel> who, identity self,
                  std::string private_data, std::shared_ptr<void> counted)
      : loop_(std::move(on)),
        who_(std::move(who)),
        self_(std::move(self)),
        private_data_(std::move(private_data)),
        counted_(std::move(counted)) {}

  ~pending_request() override { refuse("the listener did not let it in"); }

  const identity& peer() const noexcept override { return who_->peer(); }
  const std::string& private_data() const noexcept override { return private_data_; }

  const peer_certificate* certificate() const noexcept override { return who_->certificate(); }

  channel_ptr accept() override {
    counted_.reset();
    if (std::exchange(decided_, true) || who_->has_ended()) return nullptr;
    if (!loop_->post([who = who_, self = self_] { who->admit(self); })) return nullptr;
    return who_;
  }

  void reject(const std::string& reason) override { refuse(reason); }
  bool has_ended() const noexcept override { return who_->has_ended(); }

 private:
  void refuse(const std::string& reason) {
    counted_.reset();
    if (std::exchange(decided_, true)) return;
    loop_->post([who = who_, reason] { who->refuse(reason); });
  }

  const std::shared_ptr<loop> loop_;
  const std::shared_ptr<peer_channel> who_;
  const identity self_;
  const std::string private_data_;
  std::shared_ptr<void> counted_;
  bool decided_ = false;
};

}  // namespace weft::wireup
