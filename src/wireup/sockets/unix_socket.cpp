// SPDX-License-Identifier: Apache-2.0
#include "wireup/sockets/unix_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>

#include "wireup/base/random.hpp"

#include "runtime/descriptors/rights.hpp"
#include "runtime/os/printable.hpp"

namespace weft::wireup {

namespace {

constexpr std::string_view name_prefix = "weft-";

struct unix_address {
  /// \param offset 1: an abstract name, behind a zero byte; 0: a path
  unix_address(const std::string& name, std::size_t offset) {
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(name.size(), max_socket_name);
    std::memcpy(address.sun_path + offset, name.data(), length);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + offset + length);
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }

  sockaddr_un address{};
  socklen_t size = 0;
};

opened new_socket(std::shared_ptr<runtime::disposal> where = {}) {
  unique_fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0),
               std::move(where));
  const int error = fd ? 0 : errno;
  if (fd) runtime::let_descriptors_in(fd.get(), false);
  return {std::move(fd), error};
}

}  // namespace

context_id random_id() {
  context_id id;
  fill_random(std::as_writable_bytes(std::span(id.words)));
  return id;
}

std::string to_text(const context_id& id) {
  return fmt::format("{:016x}{:016x}", id.words[0], id.words[1]);
}

std::optional<context_id> id_from_text(std::string_view text) {
  if (text.size() != 32) return std::nullopt;
  context_id id;
  for (std::size_t word = 0; word < 2; ++word) {
    const char* begin = text.data() + 16 * word;
    const auto [end, error] = std::from_chars(begin, begin + 16, id.words[word], 16);
    if (error != std::errc{} || end != begin + 16) return std::nullopt;
  }
  return id;
}

std::string socket_name_of(const context_id& id) { return std::string(name_prefix) + to_text(id); }
std::string random_socket_name() { return socket_name_of(random_id()); }

std::optional<context_id> id_of_socket(std::string_view name) {
  if (!name.starts_with(name_prefix)) return std::nullopt;
  return id_from_text(name.substr(name_prefix.size()));
}

bool is_socket_name(const std::string& text) { return id_of_socket(text).has_value(); }

namespace {

opened listen_at(const unix_address& address) {
  opened made = new_socket();
  if (!made.fd) return made;
  if (::bind(made.fd.get(), address.get(), address.size) != 0 ||
      ::listen(made.fd.get(), SOMAXCONN) != 0)
    return {unique_fd{}, errno};
  return made;
}

opened connect_to(const unix_address& address, std::shared_ptr<runtime::disposal> where) {
  opened made = new_socket(std::move(where));
  if (!made.fd) return made;
  if (::connect(made.fd.get(), address.get(), address.size) == 0) return made;
  const int error = errno;
  ::close(made.fd.release());  // no client has connected to it
  return {unique_fd{}, error};
}

}  // namespace

opened listen_abstract(const std::string& name) { return listen_at({name, 1}); }
opened listen_at_path(const std::string& path) { return listen_at({path, 0}); }

opened connect_abstract(const std::string& name, std::shared_ptr<runtime::disposal> where) {
  return connect_to({name, 1}, std::move(where));
}
opened connect_to_path(const std::string& path, std::shared_ptr<runtime::disposal> where) {
  return connect_to({path, 0}, std::move(where));
}

opened accept_one(int listener, std::shared_ptr<runtime::disposal> where) {
  unique_fd fd(::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC),
               std::move(where));
  const int error = fd ? 0 : errno;
  return {std::move(fd), error};
}

namespace {

/// Whether this process's user namespace knows that user id. All unknown users are shown with the
/// id of /proc/sys/kernel/overflowuid. Allocates no memory.
bool is_known_here(uid_t uid) noexcept {
  constexpr uid_t usual_overflow = 65534;
  const unique_fd map(::open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC));
  if (!map) return uid != usual_overflow;
  // At most 340 lines of three numbers. The kernel returns whole lines, and at most a page.
  std::array<char, 4096> text{};
  for (;;) {
    const ssize_t n = ::read(map.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 && uid != usual_overflow;
    const char* at = text.data();
    const char* const end = at + n;
    while (at != end) {
      std::array<std::uint64_t, 3> range{};  // first id inside, first id outside, count
      for (std::uint64_t& number : range) {
        at = std::find_if(at, end, [](char c) { return c >= '0' && c <= '9'; });
        at = std::from_chars(at, end, number).ptr;
      }
      if (uid >= range[0] && uid - range[0] < range[2]) return true;
      at = std::find_if(at, end, [](char c) { return c != ' ' && c != '\n'; });
    }
  }
}

}  // namespace

credentials credentials_of(int socket) {
  ucred who{};
  socklen_t size = sizeof who;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) return {};
  const bool same_number = who.uid == ::geteuid();
  const bool known = same_number && is_known_here(who.uid);
  return {who.pid, who.uid, known, same_number && !known};
}

std::string why_no_user_of_ours(const credentials& who) {
  if (!who.anybody)
    return fmt::format("it belongs to the user with id {}; both sides must run as the same user",
                       who.uid);
  return fmt::format(
      "this process's user namespace does not know its user and shows each such user as {}, so it "
      "may be anybody's; map the user of this process, by `unshare --map-current-user` or "
      "`podman run --userns=keep-id`",
      who.uid);
}

unique_fd process_at(int socket) {
  constexpr int so_peerpidfd = 77;  // Linux 6.5; libc's headers may be older
  int fd = -1;
  socklen_t size = sizeof fd;
  if (::getsockopt(socket, SOL_SOCKET, so_peerpidfd, &fd, &size) == 0) return unique_fd(fd);
  if (errno != ENOPROTOOPT) return {};  // the pid may belong to another process by now
  const pid_t pid = credentials_of(socket).pid;
  return unique_fd(pid > 0 ? static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)) : -1);
}

std::string describe_process(pid_t pid) {
  if (pid <= 0) return "a process of another container";
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  if (!std::getline(file, name)) return fmt::format("process {}", pid);
  return fmt::format("process {} ({})", pid, runtime::printable(name));
}

int send_packet(int socket, std::span<const std::byte> head, std::span<const std::byte> body,
                std::span<const unique_fd> fds) {
  std::array<iovec, 2> pieces{
      iovec{const_cast<std::byte*>(head.data()), head.size()},  // NOLINT: sendmsg only reads
      iovec{const_cast<std::byte*>(body.data()), body.size()}};
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = pieces.size();

  alignas(cmsghdr)
      std::array<std::byte, CMSG_SPACE(sizeof(int) * transports::wireup_message::max_fds)>
          control{};
  if (!fds.empty()) {
    if (fds.size() > transports::wireup_message::max_fds) return EINVAL;
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* rights = CMSG_FIRSTHDR(&message);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    for (std::size_t i = 0; i < fds.size(); ++i) {
      const int fd = fds[i].get();
      std::memcpy(CMSG_DATA(rights) + i * sizeof(int), &fd, sizeof(int));
    }
  }
  for (;;) {
    if (::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0) return 0;
    if (errno != EINTR) return errno;
  }
}

arrival receive_packet(int socket, std::span<std::byte> buffer, packet& into) {
  into.bytes = {};
  into.fds.clear();
  iovec piece{buffer.data(), buffer.size()};
  // One more than may come, to tell those that are too many from those that find no number.
  constexpr std::size_t most_fds = transports::wireup_message::max_fds;
  alignas(cmsghdr) runtime::rights_space<most_fds + 1> control;
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_LEN(sizeof(int) * (most_fds + 1));

  // A look at the packet, and then its removal: the packet holds the descriptors meanwhile, so that
  // one without a number here is not closed by the kernel on this thread.
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_PEEK | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return arrival::nothing;
    return errno == ECONNRESET ? arrival::reset : arrival::end;
  }

  // The kernel has already put the descriptors into our table: take ownership before any check.
  std::array<unique_fd, most_fds + 1> came;
  std::size_t count = 0;
  runtime::take_descriptors(message,
                            [&](int fd) { came.at(count++) = unique_fd(fd, into.disposal); });
  const bool too_many = count > most_fds;
  if (too_many || (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0)
    return (message.msg_flags & MSG_TRUNC) == 0 && !too_many ? arrival::no_room : arrival::broken;
  std::move(came.begin(), came.begin() + static_cast<std::ptrdiff_t>(count),
            std::back_inserter(into.fds));
  // A reset that comes meanwhile is reported ahead of the packet, once.
  while (::recv(socket, nullptr, 0, MSG_DONTWAIT) < 0 && (errno == ECONNRESET || errno == EINTR)) {
  }
  if (got == 0 && count == 0) return arrival::end;
  into.bytes = buffer.first(static_cast<std::size_t>(got));
  return arrival::packet;
}

}  // namespace weft::wireup
