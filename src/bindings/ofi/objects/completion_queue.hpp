// SPDX-License-Identifier: Apache-2.0
// fi_cq(3)
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "bindings/ofi/objects/domain.hpp"
#include "bindings/ofi/objects/record.hpp"
#include "bindings/ofi/objects/sleeper.hpp"

namespace weft::ofi {

/// The ended operations of one or both directions of an endpoint, until they are read. Owned by the
/// endpoint; with its external loop held.
struct completions {
  endpoint* owner = nullptr;
  record_list waiting;
};

/// Reads from the lists of its endpoints: the queue itself stores nothing when an operation ends,
/// so it cannot overflow.
class completion_queue final : public fid_cq {
 public:
  completion_queue(domain& of, const fi_cq_attr& attr, void* context);
  ~completion_queue();

  /// fi_ops_domain::cq_open
  static int open(fid_domain* of, fi_cq_attr* attr, fid_cq** made, void* context) noexcept;

  /// Adds an endpoint's list, when the endpoint is enabled; `remove` before it is closed.
  void add(completions& from);
  void remove(completions& from) noexcept;

  /// Whether no completion waits; if so, later ones make the descriptor readable.
  bool may_sleep() noexcept;

  users used;  // endpoints

 private:
  ssize_t read(void* into, std::size_t count, fi_addr_t* from) noexcept;
  ssize_t read_error(fi_cq_err_entry& into) noexcept;
  ssize_t read_patiently(void* into, std::size_t count, fi_addr_t* from, int timeout) noexcept;
  ssize_t take(completions& c, std::byte* into, std::size_t count, fi_addr_t* from,
               bool& left) noexcept;
  static int control(fid_t f, int command, void* argument) noexcept;
  static const char* explain(fid_cq* cq, int code, const void* data, char* text,
                             std::size_t size) noexcept;
  static fi_ops object_ops;
  static fi_ops_cq cq_ops;

  domain& domain_;
  const fi_cq_format format_;
  std::mutex mutex_;  // guards changes of sources_; applications keep reads and closes apart
  std::vector<completions*> sources_;
  sleeper sleeper_;
  std::atomic<bool> emptied_ = false;  // by the last read, which polled: the next read need not
};

}  // namespace weft::ofi
