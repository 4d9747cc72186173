// SPDX-License-Identifier: Apache-2.0
// Short sleeps that another thread of the process can end.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

namespace weft::runtime {

/// Sleeps while the word has that value, for `longest` at most. May return early.
void nap(const std::atomic<std::uint32_t>& word, std::uint32_t value,
         std::chrono::nanoseconds longest) noexcept;

/// Ends the naps on that word, whose value was changed before. Only its address is used: it need
/// not exist any more.
void end_naps(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace weft::runtime
