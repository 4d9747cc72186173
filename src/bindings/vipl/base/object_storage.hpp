// SPDX-License-Identifier: Apache-2.0
// The storage of the objects behind handles.
#pragma once

#include <cstddef>
#include <mutex>

namespace weft::vipl {

/// The storage of all objects of one kind, in the process. That of an ended object is kept for a
/// later one, and its first bytes stay as the object has left them, so that they can be read at any
/// time. Any thread.
class object_storage {
 public:
  void* take(std::size_t size);  ///< \throws std::bad_alloc
  void put(void* p, std::size_t size) noexcept;

 private:
  struct kept;
  std::mutex mutex_;
  kept* first_ = nullptr;
};

}  // namespace weft::vipl
