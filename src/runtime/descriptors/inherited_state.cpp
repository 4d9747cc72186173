// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/inherited_state.hpp"

#include <fcntl.h>

#include "runtime/descriptors/standard_descriptors.hpp"

namespace weft::runtime {

inherited_state::inherited_state() noexcept {
  fill_standard_descriptors("/dev/null", O_RDWR);
  for (std::size_t i = 0; i != signals.size(); ++i) ::sigaction(signals[i], nullptr, &actions_[i]);
  ::sigprocmask(SIG_BLOCK, nullptr, &mask_);
  ::getrlimit(RLIMIT_NOFILE, &files_);
  ::signal(SIGCHLD, SIG_DFL);
}

void inherited_state::give_back() const noexcept {
  for (std::size_t i = 0; i != signals.size(); ++i) ::sigaction(signals[i], &actions_[i], nullptr);
  ::setrlimit(RLIMIT_NOFILE, &files_);
  ::sigprocmask(SIG_SETMASK, &mask_, nullptr);
}

}  // namespace weft::runtime
