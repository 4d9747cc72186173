// SPDX-License-Identifier: Apache-2.0
// The way from handles to what is behind them, for weft's own layers and tests.
#pragma once

#include <memory>
#include <utility>

namespace weft {

class context;
class endpoint;

namespace proto {
class peer;
}

namespace detail {

class core;

struct internals {
  static core& core_of(const context& of) noexcept;
  /// \param of owned by the context that is made
  static context context_of(std::unique_ptr<core> of) noexcept;
  static endpoint endpoint_of(std::shared_ptr<proto::peer> state) noexcept;
  /// Null: it names no peer. Of an endpoint.
  template <class Endpoint>
  static proto::peer* peer_of(const Endpoint& of) noexcept {
    return of.state_.get();
  }
  /// \throws weft::error (invalid_argument) if it names no peer
  template <class Endpoint>
  static proto::peer& named_peer(const Endpoint& of) {
    return of.peer();
  }
};

inline core& core_of(const context& of) noexcept { return internals::core_of(of); }

}  // namespace detail
}  // namespace weft
