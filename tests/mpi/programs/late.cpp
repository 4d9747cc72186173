// SPDX-License-Identifier: Apache-2.0
// A library whose destructor takes a moment.
#include <poll.h>

namespace {
__attribute__((destructor)) void wait_a_moment() { ::poll(nullptr, 0, 20); }
}  // namespace
