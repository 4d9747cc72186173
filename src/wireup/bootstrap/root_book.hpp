// SPDX-License-Identifier: Apache-2.0
// What rank 0 knows of a job whose ranks meet at it, and its answers to them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wireup/base/frame.hpp"
#include "wireup/base/identity.hpp"
#include "wireup/bootstrap/bootstrap_wire.hpp"

namespace weft::wireup {

/// Decides, and uses no sockets. All ranks enter, and are welcomed together; all publish where they
/// listen, and are sent the directory together. What clients send is checked; one that misbehaves
/// is dropped, without effect on the others. What is kept of a client is bounded. On one thread.
class root_book {
 public:
  /// A connection from a process that knows the job's key.
  class client {
   public:
    virtual ~client() = default;
    virtual void send(frame f) = 0;
    /// Sends what is queued, then closes the connection.
    virtual void close_when_sent() = 0;
    /// Closes the connection at once. Neither function is followed by a callback.
    virtual void close() = 0;
    /// Where its process is, for messages.
    virtual std::string name() const = 0;
  };
  using client_ptr = std::shared_ptr<client>;

  /// \param tell_soon has `tell_ends` called a moment later: often many ranks end at about the same
  /// time, and each tells all others
  root_book(const context_id& job, peer_id size, std::function<void()> tell_soon)
      : job_(job), ranks_(size), tell_soon_(std::move(tell_soon)) {}

  /// At most so many connections that have not said which rank they are: all ranks may come at
  /// once. When more come, the oldest of them is closed.
  std::size_t most_unnamed() const noexcept { return std::max<std::size_t>(64, ranks_.size()); }

  void on_client(const client_ptr& c);
  void on_frame(const client_ptr& c, const frame& f);
  /// The connection has ended or broken.
  void on_ended(const client_ptr& c);
  /// The client's time to say hello is over.
  void on_impatience(const client_ptr& c);
  /// The time for all ranks to come is over: those that have come learn which ones have not.
  void on_timeout(const std::string& after);
  /// Tells all ranks which ones have ended since the last call.
  void tell_ends();
  /// "ranks 2 and 5 to 7"; empty: all are there.
  std::string missing() const;
  /// Ranks that are welcome and have not said where they listen, if the others wait for them;
  /// empty: there are none, or the directory is out.
  std::vector<peer_id> unpublished() const;
  /// Gives them up.
  void drop_unpublished();
  /// Calls `then` once, when every rank that is still there has been sent the whole directory, so
  /// that none needs this book to find another one.
  void when_settled(std::function<void()> then);
  /// Closes all connections, after a last word.
  void close();

 private:
  enum class state { awaited, here, left, died };
  struct entry {
    state is = state::awaited;
    client_ptr client;    // null unless here
    std::string name;     // of the client, also when it is gone
    std::string locator;  // empty: has not published
    peer_id told = 0;     // so much of the directory has been sent to it
    context_id host;
  };

  void on_hello(const client_ptr& c, const frame& f);
  void refuse(const client_ptr& c, const std::string& why, refusal_kind kind = refusal_kind::any);
  void on_return(const client_ptr& c, const root_hello& hello);
  void welcome_all();
  void publish_all();
  void send_part(entry& to);
  void look_whether_settled();
  void on_rank_ended(peer_id rank, bool died);
  void drop(client_ptr c);
  bool forget_unnamed(const client_ptr& c);

  const context_id job_;
  std::vector<entry> ranks_;
  std::deque<client_ptr> unnamed_;  // oldest first
  std::map<client_ptr, peer_id> named_;
  std::vector<std::string> directory_;  // the locators; empty until all ranks have published
  const std::function<void()> tell_soon_;
  std::function<void()> settled_;  // null: not asked for, or told
  std::vector<job_ended> untold_ends_;
  bool welcomed_ = false;
  std::string given_up_;      // why the job does not come about; empty: it may
  std::string last_refused_;  // a part of a sentence, or empty
};

}  // namespace weft::wireup
