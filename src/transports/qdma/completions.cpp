// SPDX-License-Identifier: Apache-2.0
#include "transports/qdma/completions.hpp"

#include <algorithm>
#include <new>

#include "transports/qdma/pair.hpp"

namespace weft::transports::qdma {

completions::separate_queue::separate_queue()
    : memory(
          runtime::map_own(runtime::make_memory_file("weft-qdma-completions", sizeof(queue_memory)),
                           sizeof(queue_memory))) {
  reader.emplace(queue(), progress);
}

completions::completions(copy_completion how, queue_memory& incoming,
                         const queue_progress& progress, runtime::second_queue_reader* thread) {
  if (how == copy_completion::two_queues) {
    apart_.emplace();
    writer_.emplace(apart_->queue(), apart_->progress, own);
    thread_ = thread;
    if (thread_) thread_->serve(this);
  } else if (how == copy_completion::one_queue) {
    writer_.emplace(incoming, progress, own);
  }
}

bool completions::reserve(std::size_t more) noexcept {
  try {
    ended_.reserve(ended_.size() + more);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool completions::post(one& o) noexcept {
  const auto at = writer_->claim();
  if (!at) return false;
  writer_->publish(*at, 0);
  o.position = *at;
  return true;
}

bool completions::add(queue_link& of, std::uint64_t cookie, bool well) noexcept {
  post_late();
  one o{&of, cookie, well, not_posted};
  // In order: behind earlier messages that found no room.
  const bool posted = (empty() || ended_.back().position != not_posted) && post(o);
  ended_.push_back(o);
  return posted;
}

void completions::post_late() noexcept {
  for (one& o : ended_)
    if (o.position == not_posted && !post(o)) return;
}

void completions::tell_first() noexcept {
  const one o = ended_.front();
  ended_.erase(ended_.begin());
  o.of->owner().frame_sink().on_transferred(o.cookie, o.well);
}

unsigned completions::tell_before(std::uint64_t head) noexcept {
  unsigned told = 0;
  for (; !empty() && ended_.front().position < head; ++told) tell_first();
  return told;
}

unsigned completions::take() noexcept {
  if (!apart_) return 0;
  queue_reader& reader = *apart_->reader;
  while (reader.peek()) reader.pop();
  reader.publish();
  return tell_before(reader.head());
}

void completions::take_all() noexcept {
  do post_late();
  while (take() != 0);
}

void completions::tell_all_of(const queue_link& l) noexcept {
  for (std::size_t i = 0; i < ended_.size();) {
    if (ended_[i].of != &l) {
      ++i;
      continue;
    }
    const one o = ended_[i];
    ended_.erase(ended_.begin() + static_cast<std::ptrdiff_t>(i));
    l.owner().frame_sink().on_transferred(o.cookie, o.well);
  }
}

void completions::drop_all_of(const queue_link& l) noexcept {
  std::erase_if(ended_, [&l](const one& o) { return o.of == &l; });
}

}  // namespace weft::transports::qdma
