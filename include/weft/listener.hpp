// SPDX-License-Identifier: Apache-2.0
// listener: accepts connections by address.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <weft/coro/task.hpp>
#include <weft/endpoint.hpp>

namespace weft {

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
    task<endpoint> accept();                           ///< \throws weft::error if the peer has gone
    void reject(std::string reason);  ///< the peer's `connect` ends with errc::refused

   private:
    std::unique_ptr<state> state_;
  };

  struct state;
  explicit listener(std::shared_ptr<state> s) noexcept : state_(std::move(s)) {}

  task<connection_request> next();  ///< waits for a connection request
  task<endpoint> accept();          ///< waits for a connection request and accepts it
  std::string address() const;      ///< where it listens, with the port that the system chose
  void close();

 private:
  std::shared_ptr<state> state_;
};

}  // namespace weft
