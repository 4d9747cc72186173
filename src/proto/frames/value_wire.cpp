// SPDX-License-Identifier: Apache-2.0
#include <weft/wire.hpp>

#include <fmt/format.h>

#include <weft/error.hpp>

#include "proto/frames/frames.hpp"

namespace weft {

namespace detail {

void refuse_empty_element_put() {
  throw error(errc::invalid_argument,
              "an element of a container wrote no bytes; let the put of its wire<T> write at least "
              "one");
}

void refuse_empty_element_got() {
  throw error(errc::protocol_error,
              "an element of a container has no bytes; the get of its wire<T> must read at least "
              "one");
}

void refuse_choice(std::uint64_t what, std::size_t parts) {
  throw error(errc::protocol_error,
              fmt::format("the value tells of choice {}, and its type has {}; both sides must name "
                          "the same type",
                          what, parts));
}

}  // namespace detail

void source::ended(std::size_t missing) const {
  throw error(
      errc::protocol_error,
      fmt::format("the value ends after {} bytes, where {} more were to be read; both sides "
                  "must name the same type",
                  read_, missing));
}

std::uint64_t source::count_of(std::size_t element) {
  const auto count = get<std::uint64_t>();
  if (count > proto::max_message / element)
    throw error(errc::protocol_error,
                fmt::format("the value tells of {} elements of {} bytes or more; both sides must "
                            "name the same type",
                            count, element));
  return count;
}

}  // namespace weft
