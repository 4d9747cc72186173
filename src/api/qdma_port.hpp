// SPDX-License-Identifier: Apache-2.0
// What a context keeps for its qdma device: the device, and the socket at which others meet it.
#pragma once

#include <list>
#include <memory>

#include <weft/qdma.hpp>

#include "api/callback_request.hpp"
#include "runtime/engine.hpp"
#include "transports/qdma/device.hpp"
#include "wireup/unix_socket.hpp"

namespace weft::qdma::detail {

using arrival_box = std::shared_ptr<weft::detail::oneshot<process>>;
using table_box = std::shared_ptr<weft::detail::oneshot<std::shared_ptr<runtime::unique_fd>>>;

/// Asks the context behind that socket for its node's table.
/// \return false: its queue of newcomers is full, try again later
/// \throws weft::error (unreachable, refused)
bool ask_for_table(runtime::engine& e, const transports::qdma::socket_id& where,
                   const table_box& box);

/// Two that meet keep the connection over which they have exchanged cards: when it ends, the other
/// one is lost, however it came to its end. Owned by the
/// core; whoever watches a socket holds it weakly. docs/wire-format.md, "QDMA".
class port final : public std::enable_shared_from_this<port> {
 public:
  /// \throws weft::error (system)
  static std::shared_ptr<port> make(runtime::engine& e, transports::qdma::table t);
  ~port();

  runtime::engine& engine() noexcept { return engine_; }
  /// With the progress lock held, but for self() and contexts().
  transports::qdma::device& device() noexcept { return *device_; }
  device_address where() const noexcept;

  /// Begins to meet somebody; `box` learns how that ended. Not with the progress lock held.
  /// \return false: its queue of newcomers is full, try again later
  /// \throws weft::error (peer_lost, refused)
  bool meet(process who, const arrival_box& box);

  /// The context ends. With the progress lock held.
  void shut() noexcept;

 private:
  struct connection {
    runtime::unique_fd fd;
    transports::qdma::vpid peer = 0;  // that is lost when this ends; 0: none
    pid_t pid = 0;
    arrival_box waits;  // of whoever has connected
    std::uint64_t watch = 0;
    std::uint64_t death_watch = 0;
  };
  using connection_ptr = std::shared_ptr<connection>;

  explicit port(runtime::engine& e) noexcept : engine_(e) {}
  void listen();
  void on_newcomers();
  void on_packets(const connection_ptr& c);
  bool take(connection& c, wireup::packet p);
  void watch(const connection_ptr& c);
  void watch_death(const connection_ptr& c);
  void drop(const connection_ptr& c) noexcept;

  runtime::engine& engine_;
  // Where the descriptors of others' cards end.
  const std::shared_ptr<runtime::disposal> disposal_ = std::make_shared<runtime::disposal>();
  transports::qdma::socket_id name_{};
  runtime::unique_fd listener_;
  std::uint64_t listener_watch_ = 0;
  std::unique_ptr<transports::qdma::device> device_;
  std::list<connection_ptr> connections_;
  bool shut_ = false;
};

}  // namespace weft::qdma::detail
