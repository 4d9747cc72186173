// SPDX-License-Identifier: Apache-2.0
// The part of one rank in a job that meets at rank 0.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "wireup/bootstrap/launched_job.hpp"
#include "wireup/bootstrap/root_book.hpp"
#include "wireup/bootstrap/root_caller.hpp"
#include "wireup/bootstrap/root_listener.hpp"
#include "wireup/bootstrap/root_member.hpp"
#include "wireup/bootstrap/starter.hpp"
#include "wireup/tcp/encryption.hpp"

namespace weft::wireup {

/// Ties the member to rank 0: by a connection, or on rank 0 itself directly to the book, which the
/// listener serves. Everything on the loop's thread; outlives that thread.
class rank_at_root {
 public:
  /// Called once, with the last answer.
  using entered = std::function<void(root_member::outcome)>;

  rank_at_root(std::shared_ptr<loop> on, const given_rank& given, const launch_terms& terms);

  /// \param listening rank 0's socket; nothing on other ranks
  void enter(unique_fd listening, entered done);
  /// Says on standard error who is waited for, if anyone is.
  void say_who_is_awaited(std::chrono::seconds after) const;
  /// The time for all ranks to come is over. \param at_last also the time for rank 0 to say so
  void on_timeout(bool at_last);
  root_member& member() noexcept { return member_; }
  /// Calls `then` once, when no other rank needs this one to find a third one. Before `leave`.
  void when_settled(std::function<void()> then);
  /// Leaves the job in good order.
  void leave();
  /// There was no memory to go on. May be called again.
  void give_up();

 private:
  void call();
  void say(frame f);
  void hear(const frame& f);
  void on_lost();
  void on_answer(root_member::outcome o);
  void await_publishing();
  void end_root();
  std::string waits() const;
  void finish(root_member::outcome o);
  void fail(std::string why) { finish({{}, {}, std::move(why), false}); }

  const std::shared_ptr<loop> loop_;
  const given_rank given_;
  const launch_terms terms_;
  const std::shared_ptr<encryption> encryption_ = std::make_shared<encryption>(terms_.tls);
  entered done_;
  root_member member_;
  std::shared_ptr<root_caller> caller_;  // null on rank 0
  // Rank 0 only.
  asio::steady_timer tell_;        // of the book's tell_ends
  asio::steady_timer publishing_;  // until all have said where they listen
  std::optional<root_book> book_;
  std::unique_ptr<root_listener> listener_;
  root_book::client_ptr self_;
};

}  // namespace weft::wireup
