// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <utility>

#include <weft/coro/operation.hpp>

/// An operation whose completion is user code.
struct chore final : weft::operation {
  explicit chore(std::function<void()> f)
      : operation([](operation& op) noexcept { static_cast<chore&>(op).what(); }),
        what(std::move(f)) {}
  std::function<void()> what;
};
