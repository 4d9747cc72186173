// SPDX-License-Identifier: Apache-2.0
// Finds a device and makes the transport.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <weft/eager_operation.hpp>
#include <weft/transport/factory.hpp>
#include <weft/transport/services.hpp>
#include <weft/transport/transport.hpp>

#include "transports/registration_cache.hpp"

namespace weft::transports::verbs {

/// For the table of transports.
factory kind();

struct settings {
  /// Name of the device, as ibv_devices shows it; empty: the first one that works.
  std::string device;
  /// Index of its address; nothing: the first one that works.
  std::optional<unsigned> gid_index;
  /// The silence after which a host that should answer is lost.
  std::chrono::seconds peer_timeout{10};
  registration_cache_settings regions;
  /// How the peers' frames come to this side.
  eager_operation eager = eager_operation::send;
};

/// Opens a device, tries its addresses, and takes the first one by which a queue pair reaches
/// itself.
/// \param e of the context; must outlive the transport
/// \param why empty, or why there is none and what would cure it
/// \return null: none
/// \throws weft::error when descriptors run out
std::unique_ptr<transport> make(services& e, const settings& s, std::string& why);

}  // namespace weft::transports::verbs
