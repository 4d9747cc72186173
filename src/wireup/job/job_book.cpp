// SPDX-License-Identifier: Apache-2.0
#include "wireup/job/job_book.hpp"

#include <fmt/format.h>

#include <utility>

#include "wireup/auth/hello.hpp"
#include "wireup/job/job_wire.hpp"

namespace weft::wireup {

void job_book::on_client(const client_ptr& c) {
  if (unnamed_.size() == most_unnamed) drop(unnamed_.front());
  unnamed_.push_back(c);
}

void job_book::on_frame(const client_ptr& c, const frame& f) {
  const auto at = named_.find(c);
  if (at == named_.end()) {
    if (std::erase(unnamed_, c) == 0) return;  // it has been dropped or refused
    unnamed_.push_back(c);
    return on_hello(c, f);
  }
  if (const auto locator = decode_publish(f)) return on_publish(at->second, *locator);
  if (const auto find = decode_find(f); find && find->rank < ranks_.size())
    return on_find(c, find->rank, find->gone);
  drop(c);
}

void job_book::on_hello(const client_ptr& c, const frame& f) {
  const auto hello = decode_job_hello(f);
  if (!hello || hello->job != job_ || hello->rank >= ranks_.size()) return drop(c);
  entry& e = ranks_[hello->rank];
  // A rank's command may run several programs one after the other. The next one may say hello
  // before the end of the last one's connection has been seen here. A child of the last one may
  // even hold that connection open.
  if (e.program && e.program->is_gone()) drop(e.program);
  if (e.program)
    return refuse(
        c, fmt::format("{} already has a context that is rank {} of the job, and a rank has one "
                       "at a time; end that one first, or set options::standalone for one that "
                       "does not belong to the job",
                       e.program->name(), hello->rank));
  if (e.ended) return on_return(c, hello->rank);
  e.program = c;
  std::erase(unnamed_, c);
  named_.emplace(c, hello->rank);
  c->send(encode(job_welcome{job_, static_cast<peer_id>(ranks_.size())}));
  for (peer_id r = 0; r < ranks_.size(); ++r)
    if (ranks_[r].ended) c->send(encode(job_ended{r, *ranks_[r].ended}));
}

/// A rank that was lost is started again. From here on the job's rank 0 knows its process.
void job_book::on_return(const client_ptr& c, peer_id rank) {
  const std::string& root = ranks_[0].locator;
  if (!*ranks_[rank].ended)
    return refuse(c, fmt::format("rank {} of this job has ended in good order", rank));
  if (ranks_[0].ended)
    return refuse(c, fmt::format("rank {} of this job was lost, and rank 0, which could give this "
                                 "process its place, has ended; start the job again",
                                 rank));
  if (root.empty()) return returning_.insert_or_assign(c, rank), void();
  c->send(encode(vacant_place{job_, rank, static_cast<peer_id>(ranks_.size()), 1, root}));
  c->close_when_sent();
  forget(c);
}

void job_book::refuse(const client_ptr& c, const std::string& why) {
  c->send(encode_refusal(why));
  c->close_when_sent();
  forget(c);
}

void job_book::on_publish(peer_id rank, const std::string& locator) {
  entry& e = ranks_[rank];
  if (e.ended) return;
  e.locator = locator;
  for (const auto& c : std::exchange(e.waiting, {})) tell(c, rank);
  if (rank == 0) answer_returning();
}

/// Rank 0 has a context, or will have none.
void job_book::answer_returning() {
  for (const auto& [c, rank] : std::exchange(returning_, {})) on_return(c, rank);
}

void job_book::on_find(const client_ptr& c, peer_id rank, const std::string& gone) {
  entry& e = ranks_[rank];
  if (e.ended || (!e.locator.empty() && e.locator != gone)) return tell(c, rank);
  e.waiting.insert(c);
}

void job_book::tell(const client_ptr& c, peer_id rank) {
  const entry& e = ranks_[rank];
  c->send(encode(job_found{rank, e.ended ? std::string() : e.locator}));
}

/// Tells all ranks how it ended before it answers the waiting clients: the answer does not say how.
void job_book::on_rank_ended(peer_id rank, bool died) {
  ranks_[rank].ended = died;
  // A send may end the connection of a client that reads nothing, which changes named_.
  const std::map<client_ptr, peer_id> all = named_;
  for (const auto& [c, of] : all) c->send(encode(job_ended{rank, died}));
  for (const auto& c : std::exchange(ranks_[rank].waiting, {})) tell(c, rank);
  if (rank == 0) answer_returning();
}

void job_book::on_ended(const client_ptr& c) { forget(c); }

void job_book::on_impatience(const client_ptr& c) {
  if (!named_.contains(c)) drop(c);
}

void job_book::close() {
  while (!unnamed_.empty()) drop(unnamed_.front());
  while (!named_.empty()) drop(named_.begin()->first);
}

void job_book::drop(client_ptr c) {
  forget(c);
  c->close();
}

void job_book::forget(const client_ptr& c) {
  std::erase(unnamed_, c);
  returning_.erase(c);
  for (entry& e : ranks_) {
    e.waiting.erase(c);
    if (e.program != c) continue;
    // A client that asks in the meantime waits for the rank's next program, or for the end of its
    // command.
    e.program = nullptr;
    e.locator.clear();
  }
  named_.erase(c);
}

}  // namespace weft::wireup
