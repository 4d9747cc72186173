// SPDX-License-Identifier: Apache-2.0
#include "wireup/manager/manager_notices.hpp"

#include <fmt/format.h>

#include <bit>
#include <utility>

#include "runtime/os/errno_hint.hpp"
#include "wireup/sockets/tcp_socket.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup {

namespace {

/// So many closed connections are told of one by one, then those whose number is a power of two.
constexpr std::uint64_t closed_each_told = 16;

}  // namespace

void manager_notices::closed(const std::string& peer, const std::string& why) {
  ++closed_;
  if (closed_ <= closed_each_told)
    return tell(fmt::format("the connection of {} was closed: {}", peer, why));
  if (std::has_single_bit(closed_))
    tell(fmt::format("the connection of {} was closed: {} (number {}; not each is told any more)",
                     peer, why, closed_));
}

void manager_notices::refused_user(const credentials& client) {
  if (std::exchange(told_of_user_, true)) return;
  tell(fmt::format("{} tried to connect and was turned away: {} (said once)",
                   describe_process(client.pid), why_no_user_of_ours(client)));
}

void manager_notices::refused_tcp_client(int socket, std::string_view what) {
  if (std::exchange(told_of_tcp_client_, true)) return;
  tell(fmt::format("{} was turned away: {} (said once; others will be turned away silently)",
                   name_of_peer(socket), what));
}

void manager_notices::refused_crowd(const std::string& client, std::size_t connections) {
  if (std::exchange(told_of_crowd_, true)) return;
  tell(fmt::format("{} has {} connections here; more are turned away (said once)", client,
                   connections));
}

void manager_notices::starved(int error) {
  if (std::exchange(told_of_starving_, true)) return;
  tell(
      fmt::format("cannot accept a connection: {}. Others wait for some seconds, and are turned "
                  "away then (said once)",
                  runtime::describe_errno(error)));
}

void manager_notices::stale_certificates(const std::string& why) {
  tell(fmt::format("a listener goes on with its former certificates: {}", why));
}

void manager_notices::lost_name(const std::string& path) {
  tell(fmt::format(
      "the socket {} of this process was removed, or its folder (WEFT_SOCKET_DIR, "
      "options::socket_dir) was: processes of this host neither find this one nor wake it any "
      "more, "
      "and waits for them may have no end. Start the job again, with a folder that stays while it "
      "runs",
      path));
}

void manager_notices::dropped(const char* why) {
  tell(fmt::format("a connection had to be dropped: {}", why));
}

}  // namespace weft::wireup
