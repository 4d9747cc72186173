// SPDX-License-Identifier: Apache-2.0
// What a launcher knows of the ranks of its job, and its answers to them.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "wireup/base/frame.hpp"
#include "wireup/base/identity.hpp"

namespace weft::wireup {

/// Decides, and uses no sockets. What clients send is checked; a client that misbehaves or ends is
/// dropped, without effect on the others. What is kept of a client is bounded: it waits for each
/// rank once, and its locator is one text. On the directory's thread.
class job_book {
 public:
  /// A connection from a rank, or from a process that has not said which rank it is.
  class client {
   public:
    virtual ~client() = default;
    virtual void send(frame f) = 0;
    /// Sends what is queued, then closes the connection.
    virtual void close_when_sent() = 0;
    /// Closes the connection at once. Neither function is followed by a callback.
    virtual void close() = 0;
    /// Whether its process is gone or has hung up; the book may not have been told yet.
    virtual bool is_gone() const noexcept = 0;
    /// Names the process, for messages.
    virtual std::string name() const = 0;
  };
  using client_ptr = std::shared_ptr<client>;

  /// At most so many connections that have not said which rank they are. When more come, the oldest
  /// of them is closed.
  static constexpr std::size_t most_unnamed = 64;

  job_book(const context_id& job, peer_id size) : job_(job), ranks_(size) {}

  void on_client(const client_ptr& c);
  void on_frame(const client_ptr& c, const frame& f);
  /// The connection has ended or broken.
  void on_ended(const client_ptr& c);
  /// The client's time to say hello is over.
  void on_impatience(const client_ptr& c);
  /// Tells all ranks that one ended, and answers the clients that wait for it.
  void on_rank_ended(peer_id rank, bool died);
  /// Closes all connections.
  void close();

  std::size_t clients() const noexcept { return unnamed_.size() + named_.size(); }

 private:
  struct entry {
    client_ptr program;   // the client that the rank's command runs now; null: none, or not yet
    std::string locator;  // the program's; empty: has not published
    std::optional<bool> ended;     // whether it died; none: not ended
    std::set<client_ptr> waiting;  // for the locator
  };

  void on_hello(const client_ptr& c, const frame& f);
  void answer_returning();
  void on_return(const client_ptr& c, peer_id rank);
  void refuse(const client_ptr& c, const std::string& why);
  void on_publish(peer_id rank, const std::string& locator);
  void on_find(const client_ptr& c, peer_id rank, const std::string& gone);
  void tell(const client_ptr& c, peer_id rank);
  void drop(client_ptr c);
  void forget(const client_ptr& c);

  const context_id job_;
  std::vector<entry> ranks_;
  std::deque<client_ptr> unnamed_;  // oldest first
  std::map<client_ptr, peer_id> named_;
  // Of the unnamed ones: those of ranks that were lost, until rank 0 can be reached.
  std::map<client_ptr, peer_id> returning_;
};

}  // namespace weft::wireup
