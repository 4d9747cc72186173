// SPDX-License-Identifier: Apache-2.0
// How publishers and subscribers of one name find each other in a job. Rank 0 has the directory:
// for each name a topic of its own, whose values are the ranks that publish it, with all of them as
// the history.
//
//   PUBLISHER               RANK 0                     SUBSCRIBER
//   announce  ------------> serve_publisher
//                           serve_subscriber <-------- follow_directory: a subscription
//                                            --------> its values: topic_node::follow
//   wants_no_more --------> forgets it
#include <weft/coro/as_result.hpp>
#include <weft/coro/scope.hpp>

#include <algorithm>
#include <set>
#include <utility>

#include "api/core/core.hpp"
#include "api/topics/messages.hpp"
#include "api/topics/topic_node.hpp"
#include "proto/frames/peer_number.hpp"

namespace weft::detail {

namespace {

constexpr const type_name& directory_type = name_of_value<directory_entry>;

error without_directory(const error& why, const std::string& name) {
  return {why.kind(), "rank 0 has the directory of topics, and cannot be asked for " + name +
                          " any more: " + why.what()};
}

task<void> await_last_message(const endpoint& from, std::uint32_t number) {
  co_await receive_from(from, tag_to_caller(number), {});
}
task<void> say_when_closing(topic_source& t, const endpoint& to) {
  co_await t.closing.wait();
  const std::uint64_t word = wants_no_more;
  co_await send_word(to, t.is.number, word);
}
task<void> ask_directory(const endpoint& to, announce_request r) {
  co_await to.call<void>(announce_call, r);
}
task<void> close_with(subscription& outer, const subscription_handle& inner) {
  co_await outer.closing.wait();
  inner->close();
}

}  // namespace

// --- rank 0 ------------------------------------------------------------------------------------

/// With the mutex.
topic_node::directory_of_name& topic_node::directory_of(const std::string& name) {
  directory_of_name& found = directory_[name];
  if (!found.values)
    found.values = std::make_shared<topic_source>(
        topic_source::facts{core_, name, std::string(directory_type.text()),
                            directory_type.fingerprint(), 0, most_topic_depth, false});
  return found;
}

/// With the mutex.
void topic_node::drop_unused(const std::string& name) noexcept {
  const auto at = directory_.find(name);
  if (at != directory_.end() && at->second.entries.empty() && at->second.values->is_unused())
    directory_.erase(at);
}

task<void> topic_node::on_announce(call c) {
  const auto r = co_await request_of<announce_request>(c);
  const endpoint who = c.from();
  if (r.topic.empty() || r.topic.size() > longest_topic_name || !proto::names_rank(who.id()))
    throw error(errc::refused, "the topics of a job are announced by its ranks, with a name");
  count(who.id());
  core_.spawn(serve_publisher(who, r));
}

task<void> topic_node::serve_publisher(endpoint who, announce_request r) {
  const directory_entry entry{who.id(), r.number};
  std::shared_ptr<published> value;
  topic_handle values;
  try {
    value = std::make_shared<published>();
    value->copied = pack_values(entry);
    {
      const std::lock_guard lock(mutex_);
      directory_of_name& here = directory_of(r.topic);
      here.entries.push_back(entry);
      values = here.values;
    }
    values->push(value, nullptr);
    std::uint64_t word = 0;
    co_await recv_word(who, r.number, word);
    co_await copy_to(who, tag_to_caller(r.number), {}, values_end);
  } catch (const std::exception&) {
    // It is lost, or this context ends.
  }
  if (values) values->forget(value.get());
  const feed none(who, {});
  {
    const std::lock_guard lock(mutex_);
    const auto at = directory_.find(r.topic);
    if (at != directory_.end())
      std::erase_if(at->second.entries, [&](const directory_entry& e) {
        return e.rank == entry.rank && e.number == entry.number;
      });
    drop_unused(r.topic);
  }
  left({}, none);
}

// --- publishers --------------------------------------------------------------------------------

task<void> topic_node::announce(topic_handle t) {
  try {
    const endpoint to = directory();
    scope all;
    all.start(await_last_message(to, t->is.number));
    all.start(say_when_closing(*t, to));
    all.start(ask_directory(to, {t->is.name, t->is.number}));
    co_await all.join();
  } catch (const error& e) {
    t->lost_directory(without_directory(e, t->is.name));
  } catch (const std::exception& e) {
    t->lost_directory(error(errc::out_of_memory, e.what()));
  }
}

// --- subscribers -------------------------------------------------------------------------------

task<void> follow_directory(topic_node& node, subscription_handle s) {
  std::optional<error> failure;
  try {
    subscription_options how{
        when_full::drop_newest, most_topic_depth, most_topic_depth, {sizeof(directory_entry)}};
    subscribe_request asks = s->request;
    asks.type = std::string(directory_type.text());
    asks.fingerprint = directory_type.fingerprint();
    asks.of_directory = 1;
    asks.policy = static_cast<std::uint8_t>(how.policy);
    asks.depth = asks.history = most_topic_depth;
    const auto ranks = std::make_shared<subscription>(s->home, std::move(asks), how, false);
    node.follow(ranks, node.directory());
    scope closes;
    closes.start(close_with(*s, ranks));
    while (auto next = co_await next_arrival(ranks)) {
      const const_buffer bytes = next->bytes.span();
      if (bytes.size() != sizeof(directory_entry))
        value_does_not_fit(*next, sizeof(directory_entry));
      const auto entry = std::get<0>(unpack_values<directory_entry>(bytes));
      if (!proto::names_rank(entry.rank))
        throw error(errc::protocol_error, "the directory of topics names no rank");
      node.follow(s, node.rank(entry.rank), entry.number);
    }
    closes.request_stop();
    co_await closes.join();
  } catch (const error& e) {
    failure = without_directory(e, s->request.topic);
  } catch (const std::exception& e) {
    failure.emplace(errc::out_of_memory, e.what());
  }
  s->found_all(failure ? &*failure : nullptr);
}

}  // namespace weft::detail
