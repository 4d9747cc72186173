// SPDX-License-Identifier: Apache-2.0
#include "wireup/bootstrap/root_book.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "wireup/auth/hello.hpp"
#include "wireup/job/even_hosts.hpp"
#include "wireup/job/job_wire.hpp"

namespace weft::wireup {

void root_book::on_client(const client_ptr& c) {
  if (unnamed_.size() == most_unnamed()) drop(unnamed_.front());
  unnamed_.push_back(c);
}

bool root_book::forget_unnamed(const client_ptr& c) { return std::erase(unnamed_, c) != 0; }

void root_book::on_frame(const client_ptr& c, const frame& f) {
  const auto at = named_.find(c);
  if (at == named_.end()) {
    if (std::ranges::find(unnamed_, c) != unnamed_.end()) on_hello(c, f);
    return;  // else it has been dropped or refused
  }
  const peer_id rank = at->second;
  if (is_orderly_bye(f) && welcomed_) return on_rank_ended(rank, false);
  entry& e = ranks_[rank];
  if (const auto first = decode_directory_find(f);
      first && *first == e.told && *first < directory_.size())
    return send_part(e);
  const auto locator = decode_publish(f);
  if (!locator || !welcomed_ || !e.locator.empty()) return drop(c);
  e.locator = *locator;
  publish_all();
}

void root_book::on_hello(const client_ptr& c, const frame& f) {
  const auto hello = decode_root_hello(f);
  if (!hello) return drop(c);
  if (!given_up_.empty()) return refuse(c, given_up_);
  if (hello->size != ranks_.size() || hello->rank >= ranks_.size())
    return refuse(c, fmt::format("the job at rank 0 has {} ranks, and this process is started as "
                                 "rank {} of {}; give all ranks the same size",
                                 ranks_.size(), hello->rank, hello->size));
  entry& e = ranks_[hello->rank];
  switch (e.is) {
    case state::here:
      return refuse(
          c, fmt::format("rank {} is here already: {}; two processes were given the same rank, or "
                         "this process has a second context, which needs options::standalone",
                         hello->rank, e.name));
    case state::left:  // the rank's next context comes before rank 0's next one
      return refuse(c,
                    fmt::format("rank {} has left the job, which has not ended yet", hello->rank),
                    refusal_kind::not_yet);
    case state::died:
      return on_return(c, *hello);
    case state::awaited:
      break;
  }
  forget_unnamed(c);
  named_.emplace(c, hello->rank);
  e = {state::here, c, c->name(), {}, 0, hello->host};
  if (std::ranges::all_of(ranks_, [](const entry& r) { return r.is == state::here; }))
    welcome_all();
}

/// From here on the coordinator of the job's members, which knows of its own when the place is
/// vacant, has to do with the process.
void root_book::on_return(const client_ptr& c, const root_hello& hello) {
  if (directory_.empty())
    return refuse(c, fmt::format("rank {} was lost before the job had begun", hello.rank),
                  refusal_kind::not_yet);
  const auto of_host = std::ranges::count_if(
      ranks_, [&](const entry& e) { return e.is != state::awaited && e.host == hello.host; });
  forget_unnamed(c);
  c->send(encode(vacant_place{job_, hello.rank, hello.size,
                              static_cast<peer_id>(std::max<std::ptrdiff_t>(of_host, 1)),
                              directory_.front()}));
  c->close_when_sent();
}

void root_book::welcome_all() {
  welcomed_ = true;
  std::map<context_id, std::uint32_t> numbers;
  std::vector<std::uint32_t> hosts;
  std::vector<peer_id> sizes;
  for (const entry& e : ranks_) {
    const auto next = static_cast<std::uint32_t>(numbers.size());
    hosts.push_back(numbers.try_emplace(e.host, next).first->second);
    sizes.resize(numbers.size());
    ++sizes[hosts.back()];
  }
  root_welcome all{job_, static_cast<peer_id>(ranks_.size()), 0, ranks_of_each_host(hosts)};
  for (peer_id r = 0; r != ranks_.size(); ++r) {
    all.local_size = sizes[hosts[r]];
    ranks_[r].client->send(encode(all));
  }
}

/// Nothing happens until all ranks that are still there have published.
void root_book::publish_all() {
  const auto is_due = [](const entry& e) { return e.is == state::here && e.locator.empty(); };
  if (!directory_.empty() || std::ranges::any_of(ranks_, is_due)) return;
  for (const entry& e : ranks_)
    directory_.push_back(e.is == state::here ? e.locator : std::string());
  // A send may end the connection of a client that reads nothing, which changes named_.
  const std::map<client_ptr, peer_id> all = named_;
  for (const auto& [c, rank] : all) send_part(ranks_[rank]);
}

/// A rank asks for the next part when it has one: it can have no more than one to be sent.
void root_book::send_part(entry& to) {
  if (!to.client) return;
  const frame part = encode_directory_part(directory_, to.told);
  to.told += static_cast<peer_id>(decode_directory_part(part)->locators.size());
  to.client->send({part.kind, part.detail, part.body, {}});
  look_whether_settled();
}

std::vector<peer_id> root_book::unpublished() const {
  std::vector<peer_id> all;
  if (welcomed_ && directory_.empty())
    for (peer_id r = 0; r != ranks_.size(); ++r)
      if (ranks_[r].is == state::here && ranks_[r].locator.empty()) all.push_back(r);
  return all;
}

void root_book::drop_unpublished() {
  for (const peer_id r : unpublished())
    if (const client_ptr c = ranks_[r].client) drop(c);
}

void root_book::when_settled(std::function<void()> then) {
  settled_ = std::move(then);
  look_whether_settled();
}

void root_book::look_whether_settled() {
  const auto knows_all = [&](const entry& e) {
    return e.is != state::here || (!directory_.empty() && e.told == directory_.size());
  };
  if (settled_ && std::ranges::all_of(ranks_, knows_all)) std::exchange(settled_, nullptr)();
}

void root_book::on_rank_ended(peer_id rank, bool died) {
  entry& e = ranks_[rank];
  if (e.is != state::here) return;
  e.is = died ? state::died : state::left;
  named_.erase(e.client);
  const client_ptr gone = std::exchange(e.client, nullptr);
  gone->close_when_sent();
  if (untold_ends_.empty()) tell_soon_();
  untold_ends_.push_back({rank, died});
  publish_all();
  look_whether_settled();
}

void root_book::tell_ends() {
  while (!untold_ends_.empty()) {
    const frame f = encode_ranks_ended(untold_ends_);
    const std::map<client_ptr, peer_id> all = named_;
    for (const auto& [c, of] : all) c->send({f.kind, f.detail, f.body, {}});
  }
}

void root_book::on_ended(const client_ptr& c) {
  if (forget_unnamed(c)) return;
  const auto at = named_.find(c);
  if (at == named_.end()) return;
  if (welcomed_) return on_rank_ended(at->second, true);
  // Nothing has depended on it yet, and it may come back.
  ranks_[at->second] = {};
  named_.erase(at);
}

void root_book::on_impatience(const client_ptr& c) {
  if (!named_.contains(c)) drop(c);
}

std::string root_book::missing() const {
  std::string text;
  std::size_t count = 0;
  for (peer_id r = 0; r != ranks_.size(); ++r) {
    if (ranks_[r].is != state::awaited) continue;
    const peer_id first = r;
    while (r + 1 != ranks_.size() && ranks_[r + 1].is == state::awaited) ++r;
    count += r - first + 1;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", first);
    if (r != first) text += fmt::format(" to {}", r);
  }
  if (count == 0) return {};
  return fmt::format("rank{} {}", count == 1 ? "" : "s", text);
}

void root_book::on_timeout(const std::string& after) {
  if (welcomed_) return;
  given_up_ = fmt::format("{} of {} did not come within {}{}", missing(), ranks_.size(), after,
                          last_refused_);
  const std::map<client_ptr, peer_id> all = std::exchange(named_, {});
  for (const auto& [c, rank] : all) {
    c->send(encode_refusal(given_up_));
    c->close_when_sent();
  }
}

void root_book::refuse(const client_ptr& c, const std::string& why, refusal_kind kind) {
  last_refused_ = fmt::format("; {} was refused: {}", c->name(), why);
  forget_unnamed(c);
  c->send(encode_refusal(why, kind));
  c->close_when_sent();
}

void root_book::drop(client_ptr c) {
  c->close();
  on_ended(c);
}

void root_book::close() {
  while (!unnamed_.empty()) drop(unnamed_.front());
  const std::map<client_ptr, peer_id> all = std::exchange(named_, {});
  for (const auto& [c, rank] : all) {
    c->send(encode_orderly_bye());
    c->close_when_sent();
  }
}

}  // namespace weft::wireup
