// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace weft::slim {

/// A call of the system's libfabric, which is loaded for it: takes a third of a second. Any thread.
/// \return null: it is not installed, or has no such call
void* call_of_system(const char* name, const char* version) noexcept;

template <class Function>
Function system_call(const char* name, const char* version) noexcept {
  return reinterpret_cast<Function>(call_of_system(name, version));
}

}  // namespace weft::slim
