// SPDX-License-Identifier: Apache-2.0
#include "api/topics/topic_node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/core/core.hpp"
#include "api/topics/messages.hpp"

namespace weft::detail {

namespace {
/// How many subscriptions and announcements of one peer are served.
constexpr std::uint32_t most_of_peer = 1024;

/// \throws weft::error
void check(const std::string& name, errc otherwise) {
  if (name.empty() || name.size() > longest_topic_name)
    throw error(otherwise, fmt::format("a topic's name has 1 to {} bytes, and this one has {}",
                                       longest_topic_name, name.size()));
}
void check(const subscribe_request& r, errc otherwise) {
  check(r.topic, otherwise);
  if (r.policy > static_cast<std::uint8_t>(when_full::drop_newest))
    throw error(otherwise, fmt::format("there is no when_full {}", r.policy));
  if (r.depth < least_topic_depth || r.depth > most_topic_depth)
    throw error(otherwise, fmt::format("a subscription's depth is {} to {}, and this one's is {}",
                                       least_topic_depth, most_topic_depth, r.depth));
}
}  // namespace

void check_request_size(std::size_t size) {
  if (size <= longest_topic_request) return;
  throw error(errc::refused, fmt::format("a request of {} bytes; at most {} are taken", size,
                                         longest_topic_request));
}

topic_node::topic_node(core& of) : core_(of) {
  add_handler(subscribe_call, &topic_node::on_subscribe);
  add_handler(announce_call, &topic_node::on_announce);
  add_handler(list_call, &topic_node::on_list);
}

void topic_node::add_handler(am number, task<void> (topic_node::*serve)(call)) {
  const auto f = [this, serve](call c) { return (this->*serve)(c); };
  handlers_.push_back(core_.add_handler(number, std::make_unique<raw_code<decltype(f)>>(f), {}));
}

endpoint topic_node::rank(peer_id r) const {
  return internals::endpoint_of(core_.messenger().peers().at(r));
}
endpoint topic_node::directory() const { return rank(0); }

/// Not 0. With the mutex.
std::uint32_t topic_node::next_number() noexcept {
  if (++last_number_ == 0) ++last_number_;
  return last_number_;
}

// --- publishers --------------------------------------------------------------------------------

topic_handle topic_node::open(std::string name, const type_name& type, std::uint32_t history,
                              bool may_be_blocked) {
  check(name, errc::invalid_argument);
  topic_handle made;
  {
    const std::lock_guard lock(mutex_);
    if (topics_.contains(name))
      throw error(errc::invalid_argument,
                  "this context publishes the topic " + name + " already: one publisher is enough");
    made = std::make_shared<topic_source>(
        topic_source::facts{core_, std::move(name), std::string(type.text()), type.fingerprint(),
                            next_number(), history, may_be_blocked});
    topics_.emplace(made->is.name, made);
    for (feed* each : std::exchange(seekers_, {})) each->news.set();
  }
  core_.spawn(announce(made));
  return made;
}

void topic_node::close(topic_source& t) noexcept {
  {
    const std::lock_guard lock(mutex_);
    const auto at = topics_.find(t.is.name);
    if (at != topics_.end() && at->second.get() == &t) topics_.erase(at);
  }
  t.close();
}

std::vector<topic_info> topic_node::list() const {
  std::map<std::string, topic_info> all;
  const std::lock_guard lock(mutex_);
  for (const auto& [name, topic] : topics_) all[name] = topic->info();
  for (const auto& [name, entry] : directory_) {
    if (entry.entries.empty()) continue;
    all[name].name = name;
    for (const directory_entry& e : entry.entries) all[name].publishers.push_back(e.rank);
  }
  std::vector<topic_info> list;
  for (auto& [name, info] : all) list.push_back(std::move(info));
  return list;
}

// --- subscribers -------------------------------------------------------------------------------

subscription_handle topic_node::subscribe(const std::vector<endpoint>& publishers, std::string name,
                                          const type_name& type, const subscription_options& how) {
  subscribe_request asks;
  asks.topic = std::move(name);
  asks.type = std::string(type.text());
  asks.fingerprint = type.fingerprint();
  asks.policy = static_cast<std::uint8_t>(how.policy);
  asks.depth = how.depth;
  asks.history = how.history;
  check(asks, errc::invalid_argument);
  const bool by_name = publishers.empty();
  auto made = std::make_shared<subscription>(core_, std::move(asks), how, by_name);
  for (const endpoint& each : publishers) follow(made, each);
  if (by_name) core_.spawn(follow_directory(*this, made));
  return made;
}

void topic_node::follow(const subscription_handle& s, const endpoint& publisher,
                        std::uint32_t number) {
  if (!publisher)
    throw error(errc::invalid_argument, "this endpoint names no peer to subscribe at");
  subscribed_ptr from;
  {
    const std::lock_guard lock(mutex_);
    from = std::make_shared<subscribed>(publisher, number, next_number());
  }
  s->add(from);
  core_.spawn(follow_publisher(s, from));
}

// --- what peers ask for ------------------------------------------------------------------------

/// \throws weft::error (refused)
void topic_node::count(peer_id who) {
  const std::lock_guard lock(mutex_);
  std::uint32_t& held = held_[who];
  if (held == most_of_peer)
    throw error(errc::refused, fmt::format("this process serves {} requests about topics of one "
                                           "peer at once",
                                           most_of_peer));
  ++held;
}

task<void> topic_node::on_subscribe(call c) {
  const auto r = co_await request_of<subscribe_request>(c);
  check(r, errc::refused);
  count(c.from().id());
  core_.spawn(serve_subscriber(*this, c.from(), r));
}

topic_handle topic_node::find(const subscribe_request& r, feed& f) {
  const std::lock_guard lock(mutex_);
  if (r.of_directory != 0) return directory_of(r.topic).values;
  const auto at = topics_.find(r.topic);
  if (at != topics_.end() && (r.publisher == 0 || at->second->is.number == r.publisher))
    return at->second;
  if (r.publisher != 0) return nullptr;
  f.news.reset();
  seekers_.push_back(&f);
  return nullptr;
}

void topic_node::left(const subscribe_request& r, const feed& f) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(seekers_, &f);
  const auto held = held_.find(f.who.id());
  if (held != held_.end() && --held->second == 0) held_.erase(held);
  if (r.of_directory != 0) drop_unused(r.topic);
}

task<void> topic_node::on_list(call c) {
  c.discard();
  co_await c.reply_value(list());
}

}  // namespace weft::detail
