// SPDX-License-Identifier: Apache-2.0
// System calls that may wait for a disk, and the service that makes them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <weft/coro/operation.hpp>

namespace weft::detail {

/// A system call that is made elsewhere than on the loop. Lives in its owner until it has ended, as
/// every operation; the memory that it names is the owner's again then. Ends with errc::ok or, if
/// the call failed, with system; with stopped or closed, the call was not made or has done nothing.
class file_job : public operation {
 public:
  enum class call : std::uint8_t { open, read, write, size, truncate, sync, close };

  /// The offset for the descriptor's own position, which the call moves.
  static constexpr std::int64_t at_position = -1;

  // Set by the owner before the start; `fd` is not closed by the service, except by `close`.
  call what = call::read;
  int fd = -1;
  const char* path = nullptr;  ///< open
  int flags = 0;               ///< open
  unsigned mode = 0;           ///< open
  void* memory = nullptr;      ///< read, write
  std::size_t size = 0;        ///< read, write
  std::int64_t offset = 0;     ///< read, write; the new size for truncate

  /// A call that fails ends with errc::ok, too.
  bool tolerates_failure = false;

  /// What the call returned; a negative errno if it failed.
  std::int64_t result = 0;

  /// For the service: the call has returned.
  void has_returned(std::int64_t value) noexcept {
    result = value;
    status = value < 0 && !tolerates_failure ? errc::system : errc::ok;
  }

  // Used by the service.
  std::atomic<bool> cancelled{false};
  bool delegated = false;  ///< to threads; under the mutex of the service that delegates
  bool listed = false;     ///< in a list of a service; under its mutex, as are these:
  file_job* before = nullptr;
  file_job* after = nullptr;

 protected:
  explicit file_job(complete_fn f) noexcept : operation(f) {}
  ~file_job() = default;
};

/// Makes the calls of file jobs. A context is such a service. All functions may be called from any
/// thread.
class file_service {
 public:
  virtual ~file_service() = default;

  /// \return true: `j` has ended, and its `complete` is not called; false: it ends later
  virtual bool start(file_job& j) noexcept = 0;

  /// Ends `j` with errc::stopped unless the call is made already and cannot be taken back; then it
  /// ends with the call's result. `close` cannot be cancelled.
  virtual void cancel(file_job& j) noexcept = 0;
};

}  // namespace weft::detail
