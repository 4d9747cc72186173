// SPDX-License-Identifier: Apache-2.0
#include "wireup/bootstrap/root_member.hpp"

#include <iterator>
#include <utility>

#include "wireup/auth/hello.hpp"
#include "wireup/job/job_wire.hpp"
#include "wireup/loop/retry_on_bad_alloc.hpp"

namespace weft::wireup {

root_member::root_member(root_hello who, std::function<void(frame)> say,
                         std::function<void(outcome)> entered)
    : who_(who), say_(std::move(say)), entered_(std::move(entered)) {}

void root_member::greet() {
  entering_ = true;
  say_(encode(who_));
}

bool root_member::on_frame(const frame& f) {
  if (entering_ && is_orderly_bye(f)) return on_lost(), true;
  if (entering_) {
    if (auto vacant = decode_vacant_place(f)) {
      if (vacant->size != who_.size || vacant->place != who_.rank) return false;
      entering_ = false;
      entered_({{}, std::move(vacant), {}, false});
      return true;
    }
    const auto welcome = decode_root_welcome(f);
    const bool refused = f.kind == frame_kind::refusal;
    if (!refused && (!welcome || welcome->size != who_.size)) return false;
    const bool again = f.detail == static_cast<std::uint8_t>(refusal_kind::not_yet);
    entering_ = false;
    welcomed_ = welcome.has_value();
    entered_({welcome, {}, refused ? decode_refusal(f) : std::string(), refused && again});
    return true;
  }
  if (const auto part = decode_directory_part(f)) return learn(*part);
  if (const auto ends = decode_ranks_ended(f)) {
    for (const job_ended& e : *ends) {
      if (e.rank >= who_.size) return false;
      learn_end(e.rank, e.died);
    }
    return true;
  }
  if (is_orderly_bye(f)) learn_end(0, false);
  return true;  // any other frame comes from a rank 0 of a later version
}

bool root_member::learn(const directory_part& part) {
  if (part.first != directory_.size() || part.locators.size() > who_.size - part.first)
    return false;
  directory_.insert(directory_.end(), part.locators.begin(), part.locators.end());
  const auto known = static_cast<peer_id>(directory_.size());
  if (known != who_.size) say_(encode_directory_find(known));
  for (peer_id r = part.first; r != known; ++r) answer(r);
  return true;
}

void root_member::learn_end(peer_id rank, bool died) {
  if (!ends_.emplace(rank, died).second) return;
  for (std::size_t i = 0; i < handlers_.size(); ++i) handlers_[i](rank, died);
  answer(rank);
}

void root_member::answer(peer_id rank) {
  const auto waiting = waiting_.extract(rank);
  if (waiting.empty()) return;
  for (const auto& handler : waiting.mapped()) retry_on_bad_alloc([&] { find(rank, handler); });
}

bool root_member::on_lost() {
  if (std::exchange(entering_, false)) {
    entered_({{}, {}, "rank 0 hung up", true});
    return false;
  }
  if (!welcomed_) return false;
  const bool wanted = !waiting_.empty();
  learn_end(0, true);
  stop();
  return directory_.size() < who_.size && (ends_.at(0) || wanted);
}

void root_member::publish(const std::string& locator) { say_(encode_publish(locator)); }

void root_member::find(peer_id rank, const found_handler& found) {
  if (ends_.contains(rank)) return found({});
  if (rank < directory_.size()) return found(directory_[rank]);
  if (lost_) return found({});
  waiting_[rank].push_back(found);
}

void root_member::tell_ends(ended_handler handler) {
  for (const auto& [rank, died] : ends_) handler(rank, died);
  handlers_.push_back(std::move(handler));
}

void root_member::stop() {
  lost_ = true;
  while (!waiting_.empty()) answer(waiting_.begin()->first);
}

}  // namespace weft::wireup
