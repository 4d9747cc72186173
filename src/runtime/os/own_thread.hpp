// SPDX-License-Identifier: Apache-2.0
// Threads that a context starts for itself.
#pragma once

#include <functional>
#include <thread>

namespace weft::runtime {

/// Starts a thread with all signals blocked: signals are for the application's threads.
/// \param name the thread's name for the kernel, up to 15 characters
/// \param what a description for people, for the error
/// \throws weft::error (system) with the cure
std::thread start_own_thread(const char* name, const char* what, std::function<void()> body);

}  // namespace weft::runtime
