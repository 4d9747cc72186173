// SPDX-License-Identifier: Apache-2.0
// A fence that one side pays for both.
#pragma once

namespace weft::runtime {

/// Asks the kernel to include this process in other processes' heavy_fence. Once per process is
/// enough, more do no harm. False: refused (old kernel, seccomp); then this process must fence for
/// itself between writing a message and looking at a doorbell.
bool join_heavy_fences() noexcept;

/// Makes every running thread of every process that joined pass a full fence now (about 12 us).
/// False: refused; nothing happened beyond a fence of the calling thread.
bool heavy_fence() noexcept;

/// The same among the threads of this process (some microseconds). `join` once before; false:
/// refused, and then private_fence must not be relied on.
bool join_private_fences() noexcept;

/// False: refused in mid-life (a seccomp filter that was loaded since); it has settled instead.
bool private_fence() noexcept;

/// What is left where a fence is refused that others rely on: waits, for a millisecond, until what
/// any core has stored must have become visible. A store leaves a core's buffer in less than a
/// microsecond, and when the core turns to anything else; no fence is known to take longer.
void settle() noexcept;

}  // namespace weft::runtime
