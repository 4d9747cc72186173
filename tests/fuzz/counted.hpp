// SPDX-License-Identifier: Apache-2.0
// Operations that count how often they end.
#pragma once

#include <cstddef>
#include <memory>

#include <weft/operations/access.hpp>
#include <weft/operations/messages.hpp>

#include "target.hpp"

namespace weft::fuzz {

template <class Op>
class counted final : public Op {
 public:
  template <class Request>
  explicit counted(const Request& r) : Op(r, &end) {}
  void go() {
    if (this->start()) ++ends;
  }
  int ends = 0;

 private:
  static void end(operation& op) noexcept {
    check(++static_cast<counted&>(op).ends == 1, "an operation ends once");
  }
};
using receiving = counted<recv_operation>;
using sending = counted<send_operation>;
using probing = counted<probe_operation>;
using transferring = counted<transfer_operation>;
using updating = counted<update_operation>;
using hearing = counted<notified_operation>;
using ending = counted<region_end_operation>;

/// An operation and its memory, freed as soon as the operation has ended, so that a late access is
/// detected.
template <class Op>
struct posted {
  std::unique_ptr<std::byte[]> memory;
  std::unique_ptr<Op> op;
};

}  // namespace weft::fuzz
