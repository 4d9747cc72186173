// SPDX-License-Identifier: Apache-2.0
#include "proto/connection/flow_control.hpp"

#include <deque>
#include <random>

#include "proto/select/select.hpp"
#include "support/catch.hpp"

using namespace weft::proto;

TEST_CASE("flow control: what is granted is usable, in use, or to return") {
  flow_control f;
  CHECK(f.window() == 0);
  f.set_window(100);
  CHECK(f.usable() == 100);
  f.hold(30);
  CHECK(f.usable() == 70);
  CHECK(f.in_use() == 30);
  CHECK_FALSE(f.release(30));  // less than half of the window
  CHECK(f.usable() == 70);
  CHECK(f.to_return() == 30);
  f.pass(20);
  CHECK(f.must_return());
  CHECK(f.for_next_frame() == 50);
  f.returned(50);
  CHECK_FALSE(f.must_return());
  CHECK(f.usable() == 100);
}

TEST_CASE("flow control: the last credit is kept for an answer") {
  flow_control f;
  f.set_credit(answer_units + 2 * message_units);
  CHECK_FALSE(f.begins_last_message());
  f.spend(message_units);
  CHECK(f.can_begin_message(false));
  CHECK(f.begins_last_message());
  f.spend(message_units);
  CHECK_FALSE(f.can_begin_message(false));
  CHECK(f.can_begin_message(true));
  f.spend(message_units);
  CHECK_FALSE(f.can_begin_message(true));
}

TEST_CASE("flow control: a peer that cannot begin another message is told at once") {
  flow_control f;
  f.set_window(100 * message_units);
  f.hold(100 * message_units);
  CHECK_FALSE(f.stop_waiting());
  CHECK(f.release(message_units));
  CHECK(f.stop_waiting());
  CHECK_FALSE(f.stop_waiting());
}

TEST_CASE("flow control: one frame returns 16 bits of units, and the rest waits for the next") {
  flow_control f;
  f.set_window(200'000);
  f.pass(100'000);
  CHECK(f.for_next_frame() == 0xffff);
  f.returned(0xffff);
  CHECK(f.for_next_frame() == 100'000 - 0xffff);
}

TEST_CASE("flow control: a window grows by what the budget gives, and tells the peer") {
  flow_control f;
  f.set_window(1000);
  f.hold(500);
  CHECK_FALSE(f.should_grow());
  f.hold(1);
  CHECK(f.should_grow());
  f.grow(700);
  CHECK(f.window() == 1700);
  CHECK(f.to_return() == 700);
  CHECK(f.usable() == 499);
  f.set_window(1u << 20);
  f.hold((1u << 20) - 501);
  CHECK_FALSE(f.should_grow());
}

TEST_CASE("flow control: a window is used up if also with what is owed no message can begin") {
  flow_control f;
  f.set_window(100);
  f.hold(100 - answer_units - message_units);
  CHECK_FALSE(f.is_used_up());
  f.hold(1);
  CHECK(f.is_used_up());
  f.release(1);
  CHECK_FALSE(f.is_used_up());
}

TEST_CASE("flow control: after the end nothing is lost of the budget") {
  flow_control f;
  f.set_window(1000);
  f.hold(300);
  CHECK_FALSE(f.release(100));
  std::uint32_t back = f.end();
  CHECK(back == 800);
  CHECK(f.release(150));
  back += f.take_released();
  CHECK(f.release(50));
  back += f.take_released();
  CHECK(back == 1000);
  CHECK(f.in_use() == 0);
}

TEST_CASE("flow control: a sender that needs one more message never waits for ever") {
  std::mt19937 random(1);
  for (int run = 0; run != 200; ++run) {
    flow_control sender, receiver;
    const std::uint32_t window = smallest_grant + static_cast<std::uint32_t>(random() % 2000);
    receiver.set_window(window);
    sender.set_credit(window);
    std::deque<std::uint32_t> unmatched;
    const auto return_all = [&] {
      const std::uint32_t units = receiver.for_next_frame();
      receiver.returned(units);
      sender.add_credit(units);
    };
    for (int step = 0; step != 2000; ++step) {
      const std::uint32_t units = units_of(random() % 1000);
      if (random() % 2 == 0 && sender.credit() >= units) {
        REQUIRE(units <= receiver.usable());
        sender.spend(units);
        receiver.hold(units);
        unmatched.push_back(units);
      } else if (!unmatched.empty()) {
        if (receiver.release(unmatched.front())) return_all();
        unmatched.pop_front();
      }
      REQUIRE(receiver.usable() == sender.credit());
      REQUIRE(receiver.usable() + receiver.in_use() + receiver.to_return() == window);
      if (unmatched.empty()) REQUIRE(sender.can_begin_message(false));
    }
  }
}
