// SPDX-License-Identifier: Apache-2.0
// The subscriber's side of a subscription: serve_subscriber.cpp has a drawing of the exchange.
#include <algorithm>

#include <weft/coro/as_result.hpp>
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

void take_value(subscription& s, const subscribed_ptr& from, lent<std::byte> value) noexcept {
  try {
    s.put(from, std::move(value));
  } catch (const error& e) {
    s.fail(e);
  } catch (const std::exception& e) {
    s.fail(error(errc::out_of_memory, e.what()));
  }
}

/// Until the publisher's last message, also when one before it is not to be used: else values that
/// are on their way would stay, and a publisher that waits for this subscriber would do so for
/// ever.
task<void> receive_values(subscription& s, subscribed_ptr from) {
  const tag t = tag_to_caller(from->number);
  // A reason is no value.
  const at_most longest{std::max(s.limit.bytes, longest_topic_request)};
  for (;;) {
    auto next = co_await as_result(receive_from(from->publisher, t, longest));
    if (!next) {
      if (next.code() != errc::truncated) throw error(next.failure());
      s.fail(s.too_long());
      continue;
    }
    const std::uint64_t word = next.value().about().immediate;
    if (word != values_end && word != values_refused) {
      take_value(s, from, std::move(next.value()));
      continue;
    }
    if (word == values_refused)
      from->refusal.assign(reinterpret_cast<const char*>(next.value().data()),
                           std::min(next.value().size(), longest_topic_request));
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
