// SPDX-License-Identifier: Apache-2.0
// Abstract Unix sockets. They carry whole frames and descriptors, and the kernel tells which
// process is at the other end.
#pragma once

#include <sys/socket.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <weft/transport/wireup_message.hpp>

#include "runtime/descriptors/fd.hpp"
#include "wireup/base/identity.hpp"

namespace weft::wireup {

/// A descriptor, or the errno that says why there is none.
struct opened {
  unique_fd fd;
  int error = 0;
};

/// The longest name that fits into an abstract address.
inline constexpr std::size_t max_socket_name = 107;

/// 128 bits from the kernel. \throws weft::error (system)
context_id random_id();

/// A name for a socket that cannot be guessed: "weft-" and 32 hexadecimal digits.
std::string random_socket_name();
/// The name of a context's socket, and back: the name tells the context's id.
std::string socket_name_of(const context_id& id);
std::optional<context_id> id_of_socket(std::string_view name);
/// Whether a text has the form that `random_socket_name` gives. Texts from peers are checked with
/// it.
bool is_socket_name(const std::string& text);

/// 32 hexadecimal digits, and back.
std::string to_text(const context_id& id);
std::optional<context_id> id_from_text(std::string_view text);

/// All sockets are SOCK_SEQPACKET, do not block, and close when the process executes another. They
/// let no descriptors in (runtime/descriptors/rights.hpp): any user of this host can connect, and
/// take a name. A caller that has checked the process at the other end, and expects descriptors,
/// changes that.
opened listen_abstract(const std::string& name);
/// EAGAIN: the listener's queue is full, try again later. ECONNREFUSED: no process listens.
/// \param where closes the socket, in which the other side can leave descriptors; null: its owner
///   does, on its own thread
opened connect_abstract(const std::string& name, std::shared_ptr<runtime::disposal> where = {});
/// The same with the path of a file. It stays when the socket ends. \param path at most
/// max_socket_name bytes
opened listen_at_path(const std::string& path);
opened connect_to_path(const std::string& path, std::shared_ptr<runtime::disposal> where = {});
/// EAGAIN: no connection is waiting. \param where as above
opened accept_one(int listener, std::shared_ptr<runtime::disposal> where = {});

/// The process at the other end, and whether it belongs to the user of this one.
struct credentials {
  pid_t pid = 0;
  uid_t uid = 0;
  bool same_user = false;
  /// It has the user id of this process, but this user namespace shows all users that it does not
  /// know with that id: the real user is unknown.
  bool anybody = false;
};
credentials credentials_of(int socket);
/// "it belongs to the user with id 12; ...": why it is not the same user, and the cure.
std::string why_no_user_of_ours(const credentials& who);

/// A pidfd of the process at the other end, also of one that has no pid here; none: the kernel does
/// not tell, or the process has ended.
unique_fd process_at(int socket);

/// "process 12 (heat)".
std::string describe_process(pid_t pid);

/// Sends one packet with descriptors, which stay the caller's. 0 or an errno; never raises SIGPIPE.
int send_packet(int socket, std::span<const std::byte> head, std::span<const std::byte> body,
                std::span<const unique_fd> fds);

/// What `receive_packet` found.
enum class arrival {
  packet,   ///< one whole packet
  nothing,  ///< none is there
  end,      ///< the other side closed or died
  reset,    ///< it closed without reading what we sent; what it sent before can still be read
  no_room,  ///< this process has too few free descriptors for the next packet, which stays there
  broken    ///< too long, or more descriptors than a wire-up message may carry
};

struct packet {
  std::span<std::byte> bytes;  ///< in the caller's buffer
  std::vector<unique_fd> fds;
  /// Set by the caller: closes the descriptors. Null: they are closed on this thread, which may
  /// block.
  std::shared_ptr<runtime::disposal> disposal;
};

/// Receives one packet into `buffer`, without waiting.
arrival receive_packet(int socket, std::span<std::byte> buffer, packet& into);

}  // namespace weft::wireup
