// SPDX-License-Identifier: Apache-2.0
// Wake-ups between processes: received once sent, and harmless for any behaviour of the other side.
#include <poll.h>

#include <cerrno>
#include <optional>

#include <weft/error.hpp>

#include "runtime/remote_wakeup.hpp"
#include "support/catch.hpp"

using weft::runtime::wakeup_receiver;
using weft::runtime::wakeup_sender;

namespace {

bool heard(const wakeup_receiver& ear) {
  pollfd p{ear.fd(), POLLIN, 0};
  return ::poll(&p, 1, 0) == 1;
}

}  // namespace

TEST_CASE("remote bell: heard from the first ring until it is drained") {
  wakeup_receiver ear;
  wakeup_sender one(ear.name()), other(ear.name());
  CHECK_FALSE(heard(ear));
  one.ring();
  other.ring();
  one.ring();
  CHECK(heard(ear));
  ear.drain();
  CHECK_FALSE(heard(ear));
  other.ring();
  CHECK(heard(ear));
}

TEST_CASE("remote bell: ringing one that never listens does not block, and is heard at last") {
  wakeup_receiver ear;
  wakeup_sender rope(ear.name()), latecomer(ear.name());
  errno = EDOM;
  for (int i = 0; i < 100'000; ++i) rope.ring();
  latecomer.ring();
  CHECK(errno == EDOM);
  CHECK(heard(ear));
  while (heard(ear)) ear.drain();
  latecomer.ring();
  CHECK(heard(ear));
}

TEST_CASE("remote bell: an ear that is gone raises no signal") {
  std::optional<wakeup_receiver> ear(std::in_place);
  wakeup_sender rope(ear->name());
  rope.ring();
  ear.reset();
  rope.ring();
  rope.ring();
}

TEST_CASE("remote bell: a name that nobody has is refused") {
  try {
    wakeup_sender rope({1, 2});
    FAIL("it was taken");
  } catch (const weft::error& e) {
    CHECK(e.kind() == weft::errc::protocol_error);
  }
}
