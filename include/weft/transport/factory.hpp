// SPDX-License-Identifier: Apache-2.0
// How a context makes a kind of transport.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <weft/detail/options_fwd.hpp>

namespace weft::transports {

class services;
class transport;

/// The version of the interface in include/weft/transport. It grows with each change that a
/// transport has to follow: a context refuses a factory that was compiled with another one.
inline constexpr unsigned interface_version = 1;

/// A kind of transport: weft's own are in one table, and options::transport_factories adds others
/// (docs/transports.md). A context makes one transport of each kind that options::transports names,
/// in each of its lanes.
/// \code
/// weft::options o;
/// o.transport_factories = {{"datagram", datagram::make}};
/// o.transports = {"self", "datagram", "tcp"};
/// weft::context ctx(o);
/// \endcode
struct factory {
  /// As options::transports and WEFT_TRANSPORTS name it: letters, digits, - and _. Equal to
  /// traits::name.
  std::string name;

  /// Finds out whether such a transport can be used here, and makes it. Called while the context
  /// is made, by the application's thread.
  /// \param engine of the lane; outlives the transport
  /// \param chosen the context's options; valid during the call
  /// \param why    if it cannot be used: why, and what would cure it, for people. The context then
  ///   goes on without it, and says so (`weft-info`, context::describe).
  /// \return null: it cannot be used here
  /// \throws weft::error where the options make no sense: the context is not made
  std::function<std::unique_ptr<transport>(services& engine, const options& chosen,
                                           std::string& why)>
      make;

  /// Left as it is: what the factory was compiled with.
  unsigned version = interface_version;
};

}  // namespace weft::transports
