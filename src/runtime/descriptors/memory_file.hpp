// SPDX-License-Identifier: Apache-2.0
// Shared memory without a name: memfd, sealed and mapped.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "runtime/descriptors/fd.hpp"

namespace weft::runtime {

/// A mapping with one owner. Move-only.
class mapping {
 public:
  mapping() = default;
  /// \param where unmaps memory that came from a peer; null: this object does
  mapping(void* at, std::size_t size, std::shared_ptr<disposal> where = {}) noexcept
      : at_(at), size_(size), disposal_(std::move(where)) {}
  mapping(mapping&& other) noexcept
      : at_(std::exchange(other.at_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        disposal_(std::move(other.disposal_)) {}
  mapping& operator=(mapping&& other) noexcept {
    std::swap(at_, other.at_);
    std::swap(size_, other.size_);
    std::swap(disposal_, other.disposal_);
    return *this;
  }
  ~mapping();

  void* get() const noexcept { return at_; }
  std::size_t size() const noexcept { return size_; }

 private:
  void* at_ = nullptr;
  std::size_t size_ = 0;
  std::shared_ptr<disposal> disposal_;
};

/// Makes `size` bytes of zeroed memory that can be handed to other processes and can neither shrink
/// nor grow, so that a peer can never make an access fault. Pages are allocated when they are
/// touched.
/// \param name for /proc/PID/maps only
/// \throws weft::error (system) naming the call and the cure
unique_fd make_memory_file(const char* name, std::size_t size);

/// Zeroed memory of this process alone; pages are allocated when they are touched.
/// \throws weft::error (system)
mapping map_private(std::size_t size);

/// Maps memory that this process made, readable and writable.
mapping map_own(const unique_fd& file, std::size_t size);

/// From now on processes can map the file for reading only; mappings made before stay writable.
void seal_for_readers(const unique_fd& file);

/// Whether that holds, and so no page of it can be taken away. Of a memfd that a peer sent; never
/// blocks, for any kind of file.
bool is_sealed_for_readers(const unique_fd& file) noexcept;

/// Maps a descriptor that a peer sent, after checking that it is a memfd of exactly `size` bytes
/// that is sealed against shrinking and growing, and of ordinary pages: huge ones can run out in
/// the middle of an access. The peer may still punch holes into it; they read as zero.
/// \throws weft::error (protocol_error) naming what is wrong with it, or (system)
mapping map_from_peer(const unique_fd& file, std::size_t size, bool writable);

/// Bytes of a memfd that a peer sent; 0 if it is no memfd with a sealed size. No other call is made
/// on a descriptor before that is known: a file system in user space could hold the answer back.
std::size_t size_of(const unique_fd& file) noexcept;

}  // namespace weft::runtime
