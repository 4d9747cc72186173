// SPDX-License-Identifier: Apache-2.0
#include "wireup/base/random.hpp"

#include <fmt/format.h>
#include <sys/random.h>

#include <cerrno>
#include <cstring>
#include <weft/error.hpp>

namespace weft::wireup {

void fill_random(std::span<std::byte> into) {
  if (::getrandom(into.data(), into.size(), 0) != static_cast<ssize_t>(into.size()))
    throw error(errc::system, fmt::format("getrandom: {}", std::strerror(errno)));
}

}  // namespace weft::wireup
