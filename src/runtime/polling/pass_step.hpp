// SPDX-License-Identifier: Apache-2.0
// Passes in the call tree.
#pragma once

#include "runtime/polling/pollable_set.hpp"
#include "runtime/trace/call_tree.hpp"

namespace weft::runtime {

/// Two pollables, the first and the last of a pass, that begin and end a step: so passes without a
/// call tree ask nothing. Progress lock held.
class pass_step {
 public:
  explicit pass_step(call_tree& t) noexcept : first_(t), last_(t) {}

  /// \throws std::bad_alloc
  void surround(pollable_set& all) { all.surround(first_, last_); }

 private:
  struct end_of_pass : pollable {
    explicit end_of_pass(call_tree& t) noexcept : tree(t) {}
    bool has_work() noexcept override { return false; }
    void wake_peer() noexcept override {}
    call_tree& tree;
  };
  struct first final : end_of_pass {
    using end_of_pass::end_of_pass;
    unsigned poll() noexcept override {
      tree.enter("pass", {}, true);
      return 0;
    }
  };
  struct last final : end_of_pass {
    using end_of_pass::end_of_pass;
    unsigned poll() noexcept override {
      tree.leave();
      return 0;
    }
  };

  first first_;
  last last_;
};

}  // namespace weft::runtime
