// SPDX-License-Identifier: Apache-2.0
// A device of libibverbs, for tests of the transport's ends.
#pragma once

#include "support/skip.hpp"
#include "support/verbs_ends.hpp"
#include "transports/verbs/finder.hpp"

namespace ends {

/// Null, and the test is skipped aloud: there is none.
inline std::unique_ptr<verbs::device> device_of(const verbs::settings& s = {}) {
  std::string why;
  auto found = verbs::find(s, why);
  if (!found) weft::tests::skip(why.c_str());
  return found;
}

/// So that a break is noticed soon.
inline verbs::settings impatient() {
  verbs::settings s;
  s.peer_timeout = std::chrono::seconds(2);
  return s;
}

}  // namespace ends
