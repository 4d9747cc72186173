// SPDX-License-Identifier: Apache-2.0
#include "api/topics/topic_source.hpp"

#include <algorithm>
#include <utility>

#include "proto/messenger/message_errors.hpp"

namespace weft::detail {

bool topic_source::blocks() const noexcept {
  return std::any_of(feeds_.begin(), feeds_.end(), [](const feed_ptr& f) {
    return f->policy == when_full::block && !f->leaves && f->is_full();
  });
}

void topic_source::add_to(feed& f, const publication& value) {
  if (f.leaves) return;
  if (f.is_full()) {
    ++f.dropped;
    if (f.policy == when_full::drop_newest) return;
    f.waiting.pop_front();
  }
  f.waiting.push_back(value);
  f.news.set();
}

std::uint64_t topic_source::push(const std::shared_ptr<published>& value,
                                 std::shared_ptr<event>* wait) {
  const std::lock_guard lock(mutex_);
  if (closed_) throw error(errc::closed, "the topic " + is.name + " is closed");
  if (alone_ && feeds_.empty()) throw error(*alone_);
  if (blocks()) {
    if (wait) *wait = blocked_.add();
    return 0;
  }
  value->sequence = ++last_;
  for (const feed_ptr& f : feeds_) add_to(*f, value);
  if (is.history == 0) return last_;
  if (kept_.size() == is.history) kept_.pop_front();
  kept_.push_back(value);
  return last_;
}

/// Also without subscribers now and then, so that some can come.
bool topic_source::should_yield() const noexcept {
  constexpr std::uint64_t most_in_a_row = 64;
  const std::lock_guard lock(mutex_);
  return last_ % most_in_a_row == 0 ||
         std::any_of(feeds_.begin(), feeds_.end(), [](const feed_ptr& f) {
           return !f->waiting.empty() && f->sent - f->taken < topic_window(f->depth);
         });
}

void topic_source::count_copy() noexcept {
  const std::lock_guard lock(mutex_);
  ++copies_;
}

void topic_source::close() noexcept {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  closing.set();
  kept_.clear();
  blocked_.wake();
  for (const feed_ptr& f : feeds_) f->news.set();
  if (feeds_.empty()) gone_.set();
}

bool topic_source::is_closed() const noexcept {
  const std::lock_guard lock(mutex_);
  return closed_;
}

void topic_source::lost_directory(const error& why) {
  const std::lock_guard lock(mutex_);
  alone_ = why;
}

bool topic_source::attach(const feed_ptr& f) {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  const std::size_t n = std::min<std::size_t>(f->history, kept_.size());
  f->waiting.assign(kept_.end() - static_cast<std::ptrdiff_t>(n), kept_.end());
  feeds_.push_back(f);
  return true;
}

void topic_source::detach(const feed_ptr& f) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(feeds_, f);
  blocked_.wake();
  if (closed_ && feeds_.empty()) gone_.set();
}

publication topic_source::take(feed& f, bool& over) noexcept {
  const std::lock_guard lock(mutex_);
  f.news.reset();
  over = f.leaves || (closed_ && f.waiting.empty());
  if (over || f.waiting.empty() || f.sent - f.taken >= topic_window(f.depth)) return {};
  publication next = std::move(f.waiting.front());
  f.waiting.pop_front();
  ++f.sent;
  return next;
}

bool topic_source::hear(feed& f, std::uint64_t word) noexcept {
  const std::lock_guard lock(mutex_);
  if (word == wants_no_more) {
    f.leaves = true;
    f.waiting.clear();
  } else if (word <= f.taken || word > f.sent) {
    return false;
  } else {
    f.taken = word;
  }
  blocked_.wake();
  f.news.set();
  return true;
}

void topic_source::forget(const published* value) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(kept_, [value](const publication& p) { return p.get() == value; });
}

bool topic_source::is_unused() const noexcept {
  const std::lock_guard lock(mutex_);
  return kept_.empty() && feeds_.empty();
}

topic_info topic_source::info() const {
  const std::lock_guard lock(mutex_);
  topic_info all;
  all.name = is.name;
  all.type = is.type;
  all.published = last_;
  all.not_lent = copies_;
  all.history = is.history;
  for (const feed_ptr& f : feeds_)
    all.subscribers.push_back({proto::name_of(f->who.id()), static_cast<std::uint8_t>(f->policy),
                               f->depth, static_cast<std::uint32_t>(f->waiting.size()), f->sent,
                               f->taken, f->dropped});
  return all;
}

}  // namespace weft::detail
