// SPDX-License-Identifier: Apache-2.0
// Threads that a context starts for itself.
#pragma once

#include <functional>
#include <thread>

namespace weft::runtime {

/// Starts one with all signals blocked: they are the application's.
/// \param name as the kernel lists it, up to 15 letters
/// \param what the same for people, for the error
/// \throws weft::error (system) with the cure
std::thread start_own_thread(const char* name, const char* what, std::function<void()> body);

}  // namespace weft::runtime
