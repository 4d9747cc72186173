// SPDX-License-Identifier: Apache-2.0
// What a launcher knows of the ranks of its job, and what it answers them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wireup/frame.hpp"
#include "wireup/identity.hpp"

namespace weft::wireup {

/// Decides, and knows no sockets. What clients say is checked; one that misbehaves or ends is
/// dropped, which concerns nobody else. Everything that it keeps of a client is bounded: it waits
/// for each rank once, and its place is one text. On the directory's thread.
class job_book {
 public:
  /// A connection from a rank, or from somebody who has not said which one it is.
  class client {
   public:
    virtual ~client() = default;
    virtual void send(frame f) = 0;
    /// What was sent leaves, then it is hung up on.
    virtual void finish() = 0;
    /// It is hung up on at once. Nothing of it is told any more after either.
    virtual void close() = 0;
    /// Its process is gone, or it has hung up, though that may not have been told yet.
    virtual bool is_gone() const noexcept = 0;
    /// Which process it is, for messages.
    virtual std::string name() const = 0;
  };
  using client_ptr = std::shared_ptr<client>;

  /// Who has not said who it is. When more come, the one that has been there for longest goes.
  static constexpr std::size_t most_unnamed = 64;

  job_book(const context_id& job, peer_id size) : job_(job), ranks_(size) {}

  void on_newcomer(const client_ptr& c);
  void on_frame(const client_ptr& c, const frame& f);
  /// It has hung up, or broken.
  void on_gone(const client_ptr& c);
  /// It has had its time to say who it is.
  void on_impatience(const client_ptr& c);
  /// Tells all ranks that one ended, and answers those who look for it.
  void on_rank_end(peer_id rank, bool died);
  /// Hangs up on everybody.
  void close();

  std::size_t clients() const noexcept { return unnamed_.size() + named_.size(); }

 private:
  struct entry {
    client_ptr program;         // the one that the rank's command runs now; null: none, or not yet
    std::string locator;        // the program's; empty: has not published
    std::optional<bool> ended;  // how
    std::set<client_ptr> waiting;  // for the locator
  };

  void on_hello(const client_ptr& c, const frame& f);
  void refuse(const client_ptr& c, peer_id rank);
  void on_publish(peer_id rank, const std::string& locator);
  void on_find(const client_ptr& c, peer_id rank, const std::string& gone);
  void tell(const client_ptr& c, peer_id rank);
  void drop(client_ptr c);
  void forget(const client_ptr& c);

  const context_id job_;
  std::vector<entry> ranks_;
  std::deque<client_ptr> unnamed_;  // the one that has been there for longest first
  std::map<client_ptr, peer_id> named_;
};

}  // namespace weft::wireup
