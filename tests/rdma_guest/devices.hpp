// SPDX-License-Identifier: Apache-2.0
// A device of libibverbs, for tests of the transport's ends.
#pragma once

#include "support/skip.hpp"
#include "support/verbs_ends.hpp"
#include "transports/verbs/hardware/finder.hpp"

namespace ends {

/// Null if there is none; then the test is skipped, with a message.
inline std::unique_ptr<verbs::device> device_of(const verbs::settings& s = {}) {
  std::string why;
  auto found = verbs::find(s, why);
  if (!found) weft::tests::skip(why.c_str());
  return found;
}

/// Short timeouts, so that a break is noticed soon.
inline verbs::settings impatient() {
  verbs::settings s;
  s.peer_timeout = std::chrono::seconds(2);
  return s;
}

}  // namespace ends
