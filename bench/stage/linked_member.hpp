// SPDX-License-Identifier: Apache-2.0
// A side of a benchmark that reaches the other one by weft: a rank of a job, or one that is served.
#pragma once

#include <functional>
#include <weft/weft.hpp>

#include "stage/settings.hpp"
#include "support/pair.hpp"

namespace weft::bench {

/// The options of a context by which two sides find each other. Its transports do not depend on
/// those that are measured, and no thread of it takes a core from them.
options options_of_link();

class linked_member final : public pair_member {
 public:
  /// \param link  outlives this object; only this object runs it meanwhile
  /// \param other the other side's link
  linked_member(context& link, endpoint other, int rank)
      : pair_member(rank), link_(link), other_(std::move(other)) {}

  void barrier() override { exchange({}); }
  /// \throws weft::error (peer_lost, closed) also, as barrier does: the other side has gone
  std::vector<std::byte> exchange(std::span<const std::byte> mine) override;
  bool one_clock() const noexcept override { return false; }

 private:
  context& link_;
  endpoint other_;
};

/// Runs `body`; both sides have come before it begins, and have ended it when this returns.
/// \throws what body throws, with the cure if the measured transport does not reach the other side
void run_linked(linked_member& self, const settings& chosen,
                const std::function<void(pair_member&)>& body);

}  // namespace weft::bench
