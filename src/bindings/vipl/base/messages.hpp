// SPDX-License-Identifier: Apache-2.0
// Decoders of what other processes send: every byte is checked, and nothing else of the library is
// used. tests/fuzz/vipl_messages.cpp.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bindings/vipl/base/host_names.hpp"
#include "bindings/vipl/base/wire.hpp"

namespace weft::vipl {

/// What a requester says of itself.
struct requester {
  introduction who;
  end_point from;

  std::string packed() const;
  /// \return nothing: that is no request of this library
  static std::optional<requester> unpack(const std::string& bytes);
};

/// A receive descriptor of the peer that has travelled ahead. Its places have room for `capacity`
/// bytes together.
struct known_descriptor {
  std::uint32_t number;
  std::uint32_t capacity;
  std::vector<place_ahead> places;
};

struct descriptor_list {
  std::uint32_t dropped;              ///< as list_ahead
  std::vector<known_descriptor> all;  ///< with numbers that follow each other
};

/// \return nothing: no correct peer sends that
/// \throws std::bad_alloc
std::optional<descriptor_list> read_list(std::span<const std::byte> from);

}  // namespace weft::vipl
