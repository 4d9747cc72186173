// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <weft/detail/file_job.hpp>

namespace weft::runtime {

/// File jobs in order, through the jobs themselves. `listed` tells whether a job is in a list:
/// each service has one. Used under the service's mutex.
class file_job_list {
 public:
  bool empty() const noexcept { return !first_; }
  detail::file_job* first() const noexcept { return first_; }

  void push(detail::file_job& j) noexcept {
    j.before = last_;
    j.after = nullptr;
    (last_ ? last_->after : first_) = &j;
    last_ = &j;
    j.listed = true;
  }

  /// \return whether it was in the list
  bool remove(detail::file_job& j) noexcept {
    if (!j.listed) return false;
    (j.before ? j.before->after : first_) = j.after;
    (j.after ? j.after->before : last_) = j.before;
    j.listed = false;
    return true;
  }

  detail::file_job* pop() noexcept {
    detail::file_job* const j = first_;
    if (j) remove(*j);
    return j;
  }

 private:
  detail::file_job* first_ = nullptr;
  detail::file_job* last_ = nullptr;
};

}  // namespace weft::runtime
