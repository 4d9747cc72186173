// SPDX-License-Identifier: Apache-2.0
// The last close of a descriptor that another process has prepared.
#pragma once

namespace weft::runtime {

/// Closes a descriptor without waiting for a linger time, whatever the file is, and also for
/// sockets that lie in the queue of a socket. Linux lets no linger time hold up a thread that ends:
/// so a thread gets a table of descriptors of its own with this one in it (CLOSE_RANGE_UNSHARE),
/// the caller closes it in the process's table, and then that thread ends, with the last reference.
/// A system call under this name waits for what a file system in user space does at each close; so
/// the caller is a thread that may block. Where the kernel refuses the table, only the descriptor
/// itself does not linger.
void close_by_ending_thread(int fd) noexcept;

}  // namespace weft::runtime
