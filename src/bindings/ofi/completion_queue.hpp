// SPDX-License-Identifier: Apache-2.0
// fi_cq(3)
#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "bindings/ofi/domain.hpp"
#include "bindings/ofi/record.hpp"
#include "bindings/ofi/sleeper.hpp"

namespace weft::ofi {

/// Where an endpoint's ended operations of one or both directions wait to be read. The endpoint's,
/// with its external loop held.
struct completions {
  endpoint* owner = nullptr;
  record_list waiting;
};

/// Reads from what its endpoints have: nothing is written anywhere when an operation ends, and
/// there is no limit that could be overrun.
class completion_queue final : public fid_cq {
 public:
  completion_queue(domain& of, const fi_cq_attr& attr, void* context);
  ~completion_queue();

  /// fi_ops_domain::cq_open
  static int open(fid_domain* of, fi_cq_attr* attr, fid_cq** made, void* context) noexcept;

  /// An endpoint's, when it is enabled and before it is closed.
  void add(completions& from);
  void remove(completions& from) noexcept;

  /// Whether nothing waits here; from now on what comes makes the descriptor readable.
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
  std::mutex mutex_;  // who is added; readers have that settled between themselves and closers
  std::vector<completions*> sources_;
  sleeper sleeper_;
  std::atomic<bool> emptied_ = false;  // by the last read, which looked: the next one need not
};

}  // namespace weft::ofi
