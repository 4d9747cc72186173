// SPDX-License-Identifier: Apache-2.0
#include "bindings/vipl/vi/landing_place.hpp"

#include <utility>

namespace weft::vipl {

void landing_place::show(nic& of, VIP_MEM_HANDLE handle, std::span<std::byte> bytes) {
  const std::lock_guard lock(mutex_);
  if (ended_ || regions_.contains(handle)) return;
  const region_name name{region_key(secret, access::landing, 0, handle),
                         reinterpret_cast<std::uintptr_t>(bytes.data())};
  regions_.emplace(handle, region(of.context(), bytes, rights::write, name));
}

void landing_place::forget(VIP_MEM_HANDLE handle) {
  std::unique_lock lock(mutex_);
  const auto ends = regions_.extract(handle);
  lock.unlock();
}

void landing_place::end() {
  std::map<VIP_MEM_HANDLE, region> all;
  const std::lock_guard lock(mutex_);  // a second caller waits for the end
  ended_ = true;
  all.swap(regions_);
  all.clear();
}

}  // namespace weft::vipl
