// SPDX-License-Identifier: Apache-2.0
#include "services.hpp"

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "honest.hpp"

namespace hostile {

using namespace weft;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t longest_echo = 300'000;
constexpr auto timeout = 20ms;  // for a peer that may never answer
constexpr tag tag_service{9};

/// Sends every message back, until the requester has gone.
task<void> echo(endpoint to) {
  bytes in(longest_echo);
  for (;;) {
    const received got = co_await to.recv(in, any_tag);
    const std::size_t size = std::min(got.size, in.size());
    static_cast<void>(
        co_await as_result(within(timeout, to.send(std::span(in).first(size), tag_service))));
  }
}

/// Messages of every kind, with a deadline each.
task<void> push(endpoint to) {
  const bytes out = pattern(longest_echo);
  const auto some = [&](std::size_t size) { return std::span(out).first(size); };
  for (unsigned round = 0; round != 4; ++round) {
    scope all;
    for (const std::size_t size : {std::size_t{0}, std::size_t{20}, std::size_t{5000}, out.size()})
      all.start(as_result(within(timeout, to.send(some(size), tag_service, round))));
    all.start(as_result(within(timeout, to.send_synchronous(some(100), tag_service))));
    all.start(as_result(within(timeout, to.send_synchronous(some(100'000), tag_service))));
    const const_buffer parts[] = {some(70'000), some(1), some(70'000)};
    all.start(as_result(within(timeout, to.send(parts, tag_service))));
    co_await all.join();
  }
}

/// Accesses the memory that the requester says it has.
task<void> reach(endpoint to) {
  bytes in(64), memory(40'000);
  for (;;) {
    const received got = co_await to.recv(in, any_tag);
    remote_region there;
    if (got.size < sizeof there) continue;
    std::memcpy(&there, in.data(), sizeof there);
    there.size = std::min<std::uint64_t>(there.size, memory.size());
    scope all;
    bytes into(there.size), swapped(there.size / 2);
    all.start(as_result(within(timeout, to.put(std::span(memory).first(there.size), there))));
    all.start(as_result(within(timeout, to.get(into, there))));
    all.start(as_result(within(timeout, to.get(swapped, there))));
    all.start(as_result(within(timeout, to.signal(there, notify{1}))));
    if (there.size >= 8) {
      all.start(as_result(within(timeout, to.fetch_add(there, 1))));
      all.start(as_result(within(timeout, to.compare_swap(there, 1, 2))));
    }
    co_await all.join();
  }
}

task<void> pipe(endpoint to, std::uint32_t number) {
  bytes in(10'000);
  const bytes out = pattern(50'000);
  weft::stream s(to, number, {.window = 16 * 1024});
  for (unsigned round = 0; round != 3; ++round) {
    auto written = co_await as_result(within(timeout, s.write(out)));
    auto read = co_await as_result(within(timeout, s.read(in)));
    if (!written && !read && round != 0) break;
  }
  s.close();
  static_cast<void>(co_await as_result(within(timeout, s.closed())));
}

task<void> pipes(endpoint to) {
  scope all;
  for (std::uint32_t number = 0; number != 3; ++number) all.start(as_result(pipe(to, number)));
  co_await all.join();
}

/// A region for this requester, which ends before the requester does.
task<void> lend(context& ctx, endpoint to) {
  bytes memory(20'000);
  for (unsigned round = 0; round != 3; ++round) {
    region shown(ctx, memory, round == 0 ? rights::read : rights::read_write);
    const remote_region key = shown.remote();
    static_cast<void>(co_await as_result(
        within(timeout, to.send(std::as_bytes(std::span(&key, 1)), tag_service))));
    static_cast<void>(co_await as_result(within(timeout, shown.notified())));
    co_await shown.end();
  }
}

/// Calls of every kind, with a deadline each, of handlers that the requester may not have.
task<void> call_requester(endpoint to) {
  const bytes out = pattern(70'000);
  bytes in(3000), little(8);
  for (unsigned round = 0; round != 4; ++round) {
    scope all;
    all.start(as_result(within(timeout, to.call<std::uint64_t>(am{1}, round))));
    all.start(as_result(within(timeout, to.call<std::string>(am{2}, std::string(40, 'a')))));
    all.start(as_result(within(timeout, to.call(am{3}, out, in))));
    all.start(as_result(within(timeout, to.call(am{4}, std::span(out).first(100), little))));
    all.start(as_result(within(timeout, to.post(am{5}, round))));
    co_await all.join();
  }
}

/// Loans of several sizes, to be read in place, and views of what comes, which live for a moment.
task<void> lend_and_view(context& ctx, endpoint to) {
  constexpr at_most longest{longest_echo};
  for (unsigned round = 0; round != 4; ++round) {
    scope all;
    std::vector<lent<std::byte>> views;
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{100}, std::size_t{5000}, longest_echo}) {
      all.start(as_result(within(timeout, to.recv_loan<std::byte>(any_tag, longest))),
                [&](result<lent<std::byte>> got) {
                  if (got) views.push_back(std::move(got.value()));
                });
      try {
        loan<std::byte> made = ctx.make_loan<std::byte>(size);
        if (size != 0) std::memset(made.data(), static_cast<int>(round), size);
        all.start(as_result(within(timeout, to.send_loan(tag_service, std::move(made)))));
      } catch (const error& e) {
        if (e.kind() != errc::out_of_memory) throw;  // peers keep all that there is
      }
    }
    co_await all.join();
    std::uint64_t sum = 0;
    for (const auto& view : views)
      for (const std::byte b : view) sum += static_cast<std::uint64_t>(b);
    co_await sleep_for(std::chrono::microseconds(100 + sum % 100));
  }
}

template <class T>
task<void> take_values(subscriber<T>& from) {
  while (auto next = co_await from.next()) static_cast<void>(next->value());
}

/// Subscribes to what the requester may publish; long values, too.
task<void> subscribe_to_requester(context& ctx, endpoint to) {
  constexpr auto patience = 60ms;
  const std::string name(name_of_topic);
  subscriber<std::uint64_t> all(ctx, to, name, {.policy = when_full::block, .depth = 8});
  subscriber<std::string> newest(ctx, to, name, {.depth = 4, .limit = {10'000}});
  scope both;
  both.start(as_result(within(patience, take_values(all))));
  both.start(as_result(within(patience, take_values(newest))));
  co_await both.join();
}

task<void> echo_call(call c) {
  bytes in(std::min<std::size_t>(c.size(), 20'000));
  co_await within(timeout, c.recv(in));
  co_await within(timeout, c.reply(in));
}

task<void> take_time(call c) {
  co_await sleep_for(2ms);
  if (c.size() > 50) throw std::runtime_error(std::string(c.size() % 3000, 'x'));
  co_await within(timeout, c.reply(c.data()));
}

task<std::vector<std::uint64_t>> double_all(std::vector<std::uint64_t> numbers) {
  for (std::uint64_t& n : numbers) n *= 2;
  co_return numbers;
}

task<void> serve(context& ctx, endpoint who, std::string private_data) {
  if (private_data == "echo") co_await echo(who);
  if (private_data == "push") co_await push(who);
  if (private_data == "memory") co_await reach(who);
  if (private_data == "stream") co_await pipes(who);
  if (private_data == "rights") co_await lend(ctx, who);
  if (private_data == "call") co_await call_requester(who);
  if (private_data == "loans") co_await lend_and_view(ctx, who);
  if (private_data == "topics") co_await subscribe_to_requester(ctx, who);
  if (private_data == "ignore") co_await who.closed();
  who.close();
}

/// Into memory, or in place: a view that lives until the next one.
task<result<received>> receive_or_view(context& ctx, bytes& in, lent<std::byte>& view, bool views) {
  constexpr tag_mask anything{0, tag_honest};
  if (!views) co_return co_await as_result(ctx.recv(in, anything));
  auto seen = co_await as_result(ctx.recv_loan<std::byte>(anything, at_most{in.size()}));
  if (!seen) co_return seen.failure();
  view = std::move(seen.value());
  co_return view.about();
}

}  // namespace

std::vector<handler> handlers_for_all(context& ctx) {
  std::vector<handler> all;
  all.push_back(ctx.on_inline<std::uint64_t(std::uint64_t)>(number_of_adder,
                                                            [](std::uint64_t n) { return n + 1; }));
  all.push_back(ctx.on(am{2}, &echo_call));
  all.push_back(ctx.on(am{3}, &take_time));
  all.push_back(ctx.on<std::vector<std::uint64_t>(std::vector<std::uint64_t>)>(am{4}, &double_all));
  all.push_back(ctx.on_inline(am{5}, [](const inline_call& c) -> std::size_t {
    if (c.data.size() % 7 == 3) throw std::runtime_error("three of seven");
    return std::min(c.data.size() * 100, c.room.size() + 1);
  }));
  return all;
}

task<void> serve_requester(context& ctx, endpoint who, std::string private_data) {
  static_cast<void>(co_await as_result(serve(ctx, std::move(who), std::move(private_data))));
}

task<void> receive_from_anybody(context& ctx, std::size_t size, bool views,
                                peer_id& numbered_source, std::uint64_t& numbered) {
  bytes in(size);
  lent<std::byte> view;
  for (;;) {
    auto result = co_await receive_or_view(ctx, in, view, views);
    if (result.code() == errc::stopped || result.code() == errc::closed) co_return;
    if (!result) continue;
    const received& got = result.value();
    if (got.source == numbered_source && got.tag == tag_numbered) {
      if (got.immediate != numbered++)
        throw std::runtime_error("a message of an honest peer to anybody was lost or overtaken");
      continue;
    }
    const std::uint64_t wish = got.immediate % 5;
    if (wish == 0) continue;
    const bytes answer(wish == 1 ? 30 : wish == 2 ? 5000 : 200'000);
    try {
      const endpoint to = ctx.peer(got.source);
      if (wish == 4)
        static_cast<void>(
            co_await as_result(within(timeout, to.send_synchronous(answer, tag_service))));
      else
        static_cast<void>(co_await as_result(within(timeout, to.send(answer, tag_service))));
    } catch (const std::exception&) {
      // It has gone.
    }
  }
}

}  // namespace hostile
