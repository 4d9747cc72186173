// SPDX-License-Identifier: Apache-2.0
// The publisher's side of a subscription.
//
//   SUBSCRIBER                              PUBLISHER
//   subscribe_call                  ------> topic_node: serve_subscriber, and an empty reply
//   receive_values                  <------ send_values: value, at most topic_window ahead
//   send_words: so many were taken  ------> hear_words
//   send_words: wants_no_more       ------> hear_words: the last one
//   receive_values                  <------ send_values: values_end or values_refused, the last
//
// Either side may say its last word first; each has ended when it has said its own, and has heard
// the other's, so that no message is left.
#include <weft/coro/scope.hpp>

#include "api/topics/messages.hpp"
#include "api/topics/topic_node.hpp"
#include "api/topics/topic_source.hpp"

namespace weft::detail {

namespace {

/// A subscriber and its topic, once there is one.
struct served {
  topic_node& node;
  const subscribe_request request;
  const feed_ptr values;
  topic_handle topic;
  bool leaves = false;  // before there was a topic
};

/// Empty: they belong together.
std::string why_not(const subscribe_request& r, const topic_source& topic) {
  if (r.fingerprint != topic.is.fingerprint)
    return "the topic " + topic.is.name + " has values of the type " + topic.is.type +
           ", and the subscriber takes " + r.type;
  if (static_cast<when_full>(r.policy) == when_full::block && !topic.is.may_be_blocked)
    return "the publisher of the topic " + topic.is.name +
           " does not wait for subscribers: take when_full::drop_oldest or drop_newest";
  return {};
}

task<void> send_values(served& s) {
  const endpoint& who = s.values->who;
  const tag t = tag_to_caller(s.request.number);
  std::string refusal;
  while (!s.topic && !s.leaves) {
    topic_handle found = s.node.find(s.request, *s.values);
    if (!found && s.request.publisher != 0) break;  // it has gone meanwhile
    if (!found) co_await s.values->news.wait();
    if (found) refusal = why_not(s.request, *found);
    if (!refusal.empty()) break;
    if (found && found->attach(s.values)) s.topic = std::move(found);
  }
  while (s.topic) {
    bool over = false;
    const publication next = s.topic->take(*s.values, over);
    if (over) break;
    if (!next)
      co_await s.values->news.wait();
    else if (next->lent.block())
      co_await lend_to(who, t, *next);
    else
      co_await copy_to(who, t, next->bytes(), next->sequence);
  }
  co_await copy_to(who, t, std::as_bytes(std::span(refusal)),
                   refusal.empty() ? values_end : values_refused);
}

task<void> hear_words(served& s) {
  for (std::uint64_t word = 0; word != wants_no_more;) {
    const received got = co_await recv_word(s.values->who, s.request.number, word);
    const bool says_so = got.size == sizeof(word) && (word == wants_no_more || s.topic);
    if (!says_so || (s.topic && !s.topic->hear(*s.values, word)))
      throw error(errc::protocol_error, "a subscriber has taken more values than it was sent");
    if (s.topic) continue;
    s.leaves = true;
    s.values->news.set();
  }
}

}  // namespace

/// What a lost subscriber fails with is of no interest.
task<void> serve_subscriber(topic_node& node, endpoint who, subscribe_request r) {
  served s{node, r, std::make_shared<feed>(std::move(who), r), {}};
  try {
    scope both;
    both.start(send_values(s));
    both.start(hear_words(s));
    co_await both.join();
  } catch (const std::exception&) {
  }
  if (s.topic) s.topic->detach(s.values);
  node.left(r, *s.values);
}

}  // namespace weft::detail
