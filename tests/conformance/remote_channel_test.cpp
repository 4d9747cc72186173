// SPDX-License-Identifier: Apache-2.0
// Channels between two processes, over every transport and in every mode.
#include <string>
#include <vector>

#include "conversation.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr tag go_ahead{1};

task<void> say_go(endpoint other) { co_await other.send(const_buffer{}, go_ahead); }
task<void> await_go(endpoint other) { co_await other.recv(mutable_buffer{}, go_ahead); }

// --- all values, in order ------------------------------------------------------------------------

task<void> send_values_in_order(context& ctx, endpoint other) {
  remote_sender<int> numbers(ctx, other, 1, 16);
  for (int i = 0; i != 500; ++i) co_await numbers.send(i);
  numbers.close();
  expect(numbers.is_closed(), "it is closed");
  expect(co_await outcome(numbers.send(1)) == errc::closed, "nothing is sent behind the end");
  co_await numbers.closed();
  remote_sender<std::string> texts(ctx, other, 1, 1);  // the number is free again
  co_await texts.send("a text");
  texts.close();
  co_await texts.closed();
}
task<void> receive_values_in_order(context& ctx, endpoint other) {
  remote_receiver<int> numbers(ctx, other, 1, 16);
  int expected = 0;
  while (std::optional<int> n = co_await numbers.receive()) {
    expect(*n == expected++, "values keep their order");
    expect(numbers.size() < 16, "the capacity bounds those that were not taken");
  }
  expect(expected == 500, "all values come");
  expect(!co_await numbers.receive() && !numbers.try_receive(), "the end stays");
  co_await numbers.closed();
  remote_receiver<std::string> texts(ctx, other, 1, 1);
  const auto text = co_await texts.receive();
  expect(text == "a text", "another channel of the same number");
  expect(!co_await texts.receive(), "the end of it");
}

// --- many coroutines at both ends ----------------------------------------------------------------

task<void> send_vectors(remote_sender<std::vector<int>>& to, int from) {
  for (int i = from; i != from + 100; ++i) {
    std::vector<int> some(static_cast<std::size_t>(1 + i * 37 % 3000), i);
    co_await to.send(std::move(some));
  }
}
task<void> many_senders(context& ctx, endpoint other) {
  remote_sender<std::vector<int>> to(ctx, other, 2, 5);
  scope all;
  for (int n = 0; n != 4; ++n) all.start(send_vectors(to, n * 100));
  co_await all.join();
  to.close();
  co_await to.closed();
}
task<void> count_values(remote_receiver<std::vector<int>>& from, std::vector<int>& seen) {
  while (std::optional<std::vector<int>> some = co_await from.receive()) {
    const int i = some->front();
    expect(some->size() == static_cast<std::size_t>(1 + i * 37 % 3000) && some->back() == i,
           "a value is whole");
    ++seen[static_cast<std::size_t>(i)];
  }
}
task<void> many_receivers(context& ctx, endpoint other) {
  remote_receiver<std::vector<int>> from(ctx, other, 2, 5);
  std::vector<int> seen(400);
  scope all;
  for (int n = 0; n != 3; ++n) all.start(count_values(from, seen));
  co_await all.join();
  expect(seen == std::vector<int>(400, 1), "each value comes once");
}

// --- capacity, without waiting, and stops --------------------------------------------------------

task<void> fill_channel(context& ctx, endpoint other) {
  remote_sender<std::string> to(ctx, other, 3, 8);
  int sent = 0;
  while (to.try_send(std::to_string(sent))) ++sent;
  expect(sent == 8, "as many as the capacity");
  std::string more = "more";
  expect(!to.try_send(std::move(more)) && more == "more", "what was not sent is left");
  expect(co_await outcome(within(1ms, to.send("late"))) == errc::timed_out, "a send waits");
  co_await say_go(other);
  co_await to.send("8");  // when half of it was taken
  co_await say_go(other);
  to.close();
  co_await to.closed();
}
task<void> empty_channel(context& ctx, endpoint other) {
  remote_receiver<std::string> from(ctx, other, 3, 8);
  co_await await_go(other);
  while (from.size() != 8) co_await sleep_for(100us);
  for (int i = 0; i != 4; ++i) expect(from.try_receive() == std::to_string(i), "in order");
  co_await await_go(other);
  for (int i = 4; i != 9; ++i) {
    const auto next = co_await from.receive();
    expect(next == std::to_string(i), "what a stopped send had is not sent");
  }
  expect(co_await outcome(within(0ms, from.receive())) != errc::peer_lost, "a stop or the end");
  expect(!co_await from.receive(), "the end");
}

// --- ends ----------------------------------------------------------------------------------------

task<void> send_until_closed(context& ctx, endpoint other) {
  remote_sender<int> none;
  expect(none.is_closed() && !none.try_send(1), "no channel");
  remote_sender<int> to(ctx, other, 4, 4);
  errc how = errc::ok;
  int sent = 0;
  for (; how == errc::ok; ++sent) how = co_await outcome(to.send(sent));
  expect(how == errc::closed && sent >= 5, "the receiver has closed");
  expect(to.is_closed() && !to.try_send(1), "it stays closed");
  expect(co_await outcome(to.closed()) == errc::closed, "not all values were received");
  co_await say_go(other);
}
task<void> close_receiver(context& ctx, endpoint other) {
  remote_receiver<int> from(ctx, other, 4, 4);
  expect(co_await from.receive() == 0, "the first value");
  while (from.size() < 3) co_await sleep_for(100us);
  from.close();
  int left = 0;
  while (co_await from.receive()) ++left;
  expect(left >= 3, "values that have come can be received");
  co_await await_go(other);
}

task<void> send_another_type(context& ctx, endpoint other) {
  remote_sender<std::string> to(ctx, other, 5, 4);
  co_await to.send("no number");
  expect(co_await outcome(to.closed()) != errc::ok, "the receiver refuses it");
  remote_sender<int> few(ctx, other, 6, 2);
  expect(co_await outcome(few.closed()) == errc::invalid_argument, "capacities differ");
  co_await say_go(other);
}
task<void> receive_numbers_only(context& ctx, endpoint other) {
  remote_receiver<double> from(ctx, other, 5, 4);
  expect(co_await outcome(from.receive()) == errc::protocol_error, "another type");
  remote_receiver<int> many(ctx, other, 6, 20);
  expect(co_await outcome(many.receive()) == errc::peer_lost, "the sender gives up");
  co_await await_go(other);
}

}  // namespace

CONFORMS("remote channel: all values, in order", send_values_in_order, receive_values_in_order)
CONFORMS("remote channel: many coroutines", many_senders, many_receivers)
CONFORMS("remote channel: the capacity", fill_channel, empty_channel)
CONFORMS("remote channel: the receiver closes", send_until_closed, close_receiver)
CONFORMS("remote channel: ends that do not agree", send_another_type, receive_numbers_only)
