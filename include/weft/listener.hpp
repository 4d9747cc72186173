// SPDX-License-Identifier: Apache-2.0
// listener: accepts connections by address.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <weft/coro/task.hpp>
#include <weft/endpoint.hpp>
#include <weft/tls_files.hpp>

namespace weft {

class scope;

/// A listener. Move-only; `close` or the destructor rejects the connection requests that wait at
/// it.
class listener {
 public:
  /// A connection request at the listener, neither accepted nor rejected yet. The destructor
  /// rejects it.
  class connection_request {
   public:
    struct state;
    explicit connection_request(std::unique_ptr<state> s) noexcept;
    connection_request(connection_request&&) noexcept;
    connection_request& operator=(connection_request&&) noexcept;
    ~connection_request();

    const std::string& private_data() const noexcept;  ///< the private data of the peer's `connect`
    /// The peer's certificate, which has been checked; null: the listener has none, and lets in who
    /// knows the job's key, or is of the same user. Valid as long as this.
    const peer_certificate* certificate() const noexcept;
    task<endpoint> accept();          ///< \throws weft::error if the peer has gone
    void reject(std::string reason);  ///< the peer's `connect` ends with errc::refused

   private:
    std::unique_ptr<state> state_;
  };

  struct state;
  explicit listener(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}

  task<connection_request> next();  ///< waits for a connection request
  task<endpoint> accept();          ///< waits for a connection request and accepts it
  /// Accepts all peers until the listener closes, which stays where it is until then. A service
  /// starts it beside its work: handlers and topics answer each peer that it lets in. A request
  /// whose peer has gone is passed over.
  ///
  ///     doors.start(door.accept_all());  // in a scope that was made after `door`
  ///
  /// \param each what is run for each peer, as a task of its own; none: nothing. At the end all are
  ///             awaited
  /// \throws weft::error  stopped; and what a task of `each` throws, which stops the others
  task<void> accept_all(std::function<task<void>(endpoint)> each = {});
  std::string address() const;  ///< where it listens, with the port that the system chose
  void close();

 private:
  task<void> accept_in(scope& all, const std::function<task<void>(endpoint)>& each);

  std::shared_ptr<state> state_;
};

}  // namespace weft
