// SPDX-License-Identifier: Apache-2.0
// readable, writable: wait for any descriptor beside messages.
#pragma once

#include <weft/context.hpp>
#include <weft/operations/descriptors.hpp>

namespace weft {

/// Waits until a read of the descriptor would not block: there is data, the end, an error, or (of a
/// listening socket) a connection. A descriptor that is ready ends the wait at once, without a
/// suspension. Several waits for one descriptor may be pending, in any coroutines.
///
///     co_await within(1s, readable(ctx, socket));
///
/// Another reader may take the data meanwhile, and a wait may seldom end without cause: read what
/// may be nothing without blocking, or use `read_some` (weft/io/descriptor.hpp).
///
/// The wait is on the loop of the context, and ends also while messages keep that loop busy.
/// Without a progress thread (modes `polling` and `interrupt`) a thread must be inside `run`. A
/// pending wait costs messages nothing.
///
/// A file that is always ready, such as a regular file, ends the wait at once, though a read may
/// then wait for the disk: weft/io/file.hpp.
/// \param ctx outlives the wait
/// \param fd  stays the caller's: after the wait weft does not refer to its file. Closing it does
///        not end the wait: stop the wait first.
/// \throws weft::error  system: `fd` is no open descriptor, or the kernel cannot watch it; stopped;
///         closed: the context ends; out_of_memory
ready_request readable(context& ctx, int fd);

/// The same for writes: there is room for some bytes, or an error, or no process reads the other
/// end any more. A blocking write of more bytes than there is room for still blocks; use
/// `write_all` (weft/io/descriptor.hpp).
ready_request writable(context& ctx, int fd);

}  // namespace weft
