// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "proto/frames/connector.hpp"

namespace weft::tests {

/// Connection set-up as the test wants it. The functions may be empty, and may be replaced at any
/// time; they are called as the functions of proto::connector are.
class scripted_connector final : public proto::connector {
 public:
  std::function<void(proto::peer&)> on_connect;
  std::function<void(proto::peer&)> on_given_up;  ///< may throw std::bad_alloc

  void connect(proto::peer& p) noexcept override {
    if (on_connect) on_connect(p);
  }
  void given_up(proto::peer& p) override {
    if (on_given_up) on_given_up(p);
  }
};

}  // namespace weft::tests
