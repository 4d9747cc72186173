// SPDX-License-Identifier: Apache-2.0
// The subscriber's side of a subscription: serve_subscriber.cpp has a drawing of the exchange.
#include <algorithm>

#include <weft/coro/scope.hpp>

#include "api/topics/messages.hpp"
#include "api/topics/subscription.hpp"

namespace weft::detail {

namespace {

task<void> ask_for_values(subscription& s, subscribed& from) {
  subscribe_request asks = s.request;
  asks.number = from.number;
  asks.publisher = from.its_number;
  co_await from.publisher.call<void>(subscribe_call, asks);
}

task<void> receive_values(subscription& s, subscribed_ptr from) {
  const tag t = tag_to_caller(from->number);
  for (;;) {
    lent<std::byte> next = co_await receive_from(from->publisher, t, s.limit);
    const std::uint64_t word = next.about().immediate;
    if (word != values_end && word != values_refused) {
      s.put(from, std::move(next));
      continue;
    }
    if (word == values_refused)
      from->refusal.assign(reinterpret_cast<const char*>(next.data()),
                           std::min(next.size(), longest_topic_request));
    from->ended = true;
    from->news.set();
    co_return;
  }
}

task<void> send_words(subscription& s, subscribed& from) {
  for (;;) {
    const std::uint64_t word = s.word_for(from);
    if (word == 0)
      co_await from.news.wait();
    else
      co_await send_word(from.publisher, from.number, word);
    if (word == wants_no_more) co_return;
  }
}

}  // namespace

task<void> follow_publisher(subscription_handle s, subscribed_ptr from) {
  std::optional<error> failure;
  try {
    scope all;
    all.start(receive_values(*s, from));
    all.start(send_words(*s, *from));
    all.start(ask_for_values(*s, *from));
    co_await all.join();
    if (!from->refusal.empty()) failure.emplace(errc::refused, from->refusal);
  } catch (const error& e) {
    failure = e;
  } catch (const std::exception& e) {
    failure.emplace(errc::out_of_memory, e.what());
  }
  s->ended(from, failure ? &*failure : nullptr);
}

}  // namespace weft::detail
