// SPDX-License-Identifier: Apache-2.0
// A context's qdma device, and the socket by which other nodes connect to it.
#pragma once

#include <list>
#include <memory>

#include <weft/qdma.hpp>

#include "api/core/callback_request.hpp"
#include "api/core/core.hpp"
#include "runtime/progress/engine.hpp"
#include "transports/qdma/device/device.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::qdma::detail {

using arrival_box = std::shared_ptr<weft::detail::oneshot<process>>;
using table_box = std::shared_ptr<weft::detail::oneshot<std::shared_ptr<unique_fd>>>;

/// Asks the context behind that socket for its node's table.
/// \return false: its queue of connections is full, try again later
/// \throws weft::error (unreachable, refused)
bool ask_for_table(runtime::engine& e, const transports::qdma::socket_id& where,
                   const table_box& box);

/// Two nodes keep the connection over which they have exchanged cards: when it ends, for any
/// reason, the other node is lost. Owned by the core; the watches of sockets hold it weakly.
/// docs/wire-format.md, "QDMA".
class port final : public weft::detail::extension, public std::enable_shared_from_this<port> {
 public:
  /// \throws weft::error (system)
  static std::shared_ptr<port> make(runtime::engine& e, transports::qdma::table t);
  ~port();

  runtime::engine& engine() noexcept { return engine_; }
  /// Progress lock held, except for self() and contexts().
  transports::qdma::device& device() noexcept { return *device_; }
  device_address where() const noexcept;

  /// Begins to connect to a node; `box` gets the result. Progress lock not held.
  /// \param line of the tries to meet that node, empty at first
  /// \return false: its queue of connections is full, or it has not let this process in yet: try
  ///   again later
  /// \throws weft::error (peer_lost, refused)
  bool meet(process who, unique_fd& line, const arrival_box& box);

  /// The context ends. Progress lock held.
  void shut() noexcept override;

 private:
  struct connection {
    unique_fd fd;
    transports::qdma::vpid peer = 0;  // the node that is lost when the connection ends; 0: none
    pid_t pid = 0;
    arrival_box waits;  // of the connecting side
    std::uint64_t watch = 0;
    std::uint64_t death_watch = 0;
  };
  using connection_ptr = std::shared_ptr<connection>;

  explicit port(runtime::engine& e) noexcept : engine_(e) {}
  void listen();
  void rest();
  void on_clients();
  void on_packets(const connection_ptr& c);
  bool take(connection& c, wireup::packet p);
  void watch(const connection_ptr& c);
  void watch_death(const connection_ptr& c);
  void drop(const connection_ptr& c) noexcept;

  runtime::engine& engine_;
  // Closes the descriptors of received cards.
  const std::shared_ptr<runtime::disposal> disposal_ = std::make_shared<runtime::disposal>();
  transports::qdma::socket_id name_{};
  unique_fd listener_;
  std::uint64_t listener_watch_ = 0;
  std::unique_ptr<transports::qdma::device> device_;
  std::list<connection_ptr> connections_;
  bool shut_ = false;
};

}  // namespace weft::qdma::detail
