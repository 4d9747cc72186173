// SPDX-License-Identifier: Apache-2.0
// A fence for two sides that one of them pays for.
#pragma once

namespace weft::runtime {

/// Asks the kernel to include this process in other processes' heavy_fence. Once per process is
/// enough; more calls do no harm. False: refused (old kernel, seccomp); then this process must
/// fence for itself between the write of a message and the read of a doorbell.
bool join_heavy_fences() noexcept;

/// Makes every running thread of every process that joined execute a full fence now (about 12 us).
/// False: refused; only the calling thread has fenced.
bool heavy_fence() noexcept;

/// The same among the threads of this process (some microseconds). Call `join` once before; if it
/// returns false, the kernel refuses, and private_fence must not be relied on.
bool join_private_fences() noexcept;

/// False: the kernel refuses it later on (a seccomp filter that was loaded since); it has called
/// settle instead.
bool private_fence() noexcept;

/// The substitute where the kernel refuses a fence that others rely on: waits a millisecond, until
/// all earlier stores of any core must be visible. A store leaves a core's buffer in less than a
/// microsecond, and when the core switches to other work; no fence is known to take longer.
void settle() noexcept;

}  // namespace weft::runtime
