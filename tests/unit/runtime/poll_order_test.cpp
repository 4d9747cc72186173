// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "runtime/polling/poll_order.hpp"
#include "support/catch.hpp"

using weft::poll_policy;
using weft::pollable;
using weft::runtime::poll_order;

namespace {

/// Writes its letter at each poll, and brings as many events as it has.
class lettered final : public pollable {
 public:
  lettered(std::string& log, char letter) : log_(log), letter_(letter) {}

  unsigned has = 0;

  unsigned poll() noexcept override {
    log_ += letter_;
    return has;
  }
  bool has_work() noexcept override { return false; }
  void wake_peer() noexcept override {}

 private:
  std::string& log_;
  const char letter_;
};

struct scene {
  explicit scene(poll_policy policy) : order(policy) {
    order.add(a);
    order.add(b);
  }

  /// The polls of one pass.
  std::string pass() {
    log.clear();
    order.poll();
    return log;
  }

  std::string log;
  lettered a{log, 'a'};
  lettered b{log, 'b'};
  poll_order order;
};

}  // namespace

TEST_CASE("poll order: adaptive looks more often where something came from") {
  scene s(poll_policy::adaptive);
  CHECK(s.pass() == "aaaabbbb");
  s.b.has = 1;
  CHECK(s.pass() == "aaaabbbb");
  CHECK(s.pass() == "abbbbbbb");
  s.b.has = 0;
  CHECK(s.pass() == "abbbbbbb");  // no events came: as before
  CHECK(s.pass() == "abbbbbbb");
  s.a.has = s.b.has = 1;
  CHECK(s.order.poll() == 8);
  CHECK(s.pass() == "aaaabbbb");
}

TEST_CASE("poll order: a source that is new to adaptive gets its share when it brings something") {
  scene s(poll_policy::adaptive);
  s.b.worth_polling = false;
  s.a.has = 1;
  s.pass();
  CHECK(s.pass() == "aaaa");  // alone: it shares with no other
  s.b.worth_polling = true;
  s.b.has = 1;
  CHECK(s.pass() == "aaaab");
  CHECK(s.pass() == "aaaabbbb");
}

TEST_CASE("poll order: toggle begins with those that did not come first") {
  scene s(poll_policy::toggle);
  CHECK(s.pass() == "ab");
  CHECK(s.pass() == "ab");
  s.a.has = 1;
  CHECK(s.pass() == "ab");
  CHECK(s.pass() == "ba");
  CHECK(s.pass() == "ba");  // only a brings events: b is polled first
  s.b.has = 1;
  CHECK(s.pass() == "ba");
  CHECK(s.pass() == "ab");  // both bring events: they take turns
  CHECK(s.pass() == "ba");
  s.a.worth_polling = false;
  CHECK(s.pass() == "b");
}
