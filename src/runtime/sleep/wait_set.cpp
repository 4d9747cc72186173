// SPDX-License-Identifier: Apache-2.0
#include "runtime/sleep/wait_set.hpp"

#include <weft/error.hpp>

namespace weft::runtime {

wait_set_choice make_wait_set(std::string_view wanted) {
  if (wanted == "uring") return {make_uring_wait_set(), {}};
  if (wanted == "epoll") return {make_epoll_wait_set(), "epoll was asked for"};
  if (wanted != "auto") {
    throw error(errc::invalid_argument,
                "no wait set is called \"" + std::string(wanted) + "\"; say auto, uring or epoll");
  }
  try {
    return {make_uring_wait_set(), {}};
  } catch (const error& e) {
    return {make_epoll_wait_set(), e.what()};
  }
}

}  // namespace weft::runtime
