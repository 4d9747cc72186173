// SPDX-License-Identifier: Apache-2.0
#include "wireup/manager/connection_limits.hpp"

namespace weft::wireup {

bool connection_limits::add(const std::string& origin, bool is_host) {
  std::size_t& there = of_origin_[origin];
  if (there == (is_host ? most_of_host : most_of_process)) return false;
  ++there;
  return true;
}

void connection_limits::remove(const std::string& origin) {
  const auto from = of_origin_.find(origin);
  if (--from->second == 0) of_origin_.erase(from);
}

std::shared_ptr<void> connection_limits::hold_request(std::uint64_t listener_number) {
  auto& count = undecided_[listener_number];
  if (!count) count = std::make_shared<std::atomic<std::size_t>>(0);
  if (*count >= most_undecided) return nullptr;
  ++*count;
  return {count.get(), [count](void*) { --*count; }};
}

}  // namespace weft::wireup
