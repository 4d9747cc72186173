// SPDX-License-Identifier: Apache-2.0
#include "runtime/descriptors/remote_wakeup.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/filter.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <weft/error.hpp>

#include "runtime/descriptors/rights.hpp"

namespace weft::runtime {

namespace {

// A queue holds about ten datagrams unless the administrator has changed that.
constexpr int most_heard_at_once = 64;

struct bell_name {
  bell_name(const std::string& folder, const std::array<std::uint64_t, 2>& name) noexcept {
    at.sun_family = AF_UNIX;
    // If the first byte is zero, the name is abstract, outside the file system.
    char* end = at.sun_path + 1;
    if (!folder.empty()) {
      end =
          std::copy_n(folder.data(), std::min(folder.size(), socket_folder::longest), at.sun_path);
      *end++ = '/';
    }
    end = fmt::format_to(end, "weft-bell-{:016x}{:016x}", name[0], name[1]);
    size = static_cast<socklen_t>(end - reinterpret_cast<char*>(&at));
  }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&at); }

  sockaddr_un at{};
  socklen_t size = 0;
};

[[noreturn]] void no_bell(const char* call) {
  throw error(errc::system, fmt::format("{} for a bell: {}; raise the limit on open files (ulimit "
                                        "-n), and allow Unix sockets",
                                        call, std::strerror(errno)));
}

unique_fd socket_or_none() noexcept {
  return unique_fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

unique_fd new_socket() {
  unique_fd fd = socket_or_none();
  if (!fd) no_bell("socket");
  return fd;
}

/// Lets only datagrams in that begin with the secret. Where the kernel has no filters, all come in.
void let_in_only(int socket, const std::array<std::uint64_t, 2>& secret) noexcept {
  std::array<std::uint32_t, 4> words;
  static_assert(sizeof words == sizeof secret);
  std::memcpy(words.data(), secret.data(), sizeof words);
  std::array<sock_filter, 2 * words.size() + 2> program;
  for (std::uint32_t i = 0; i != words.size(); ++i) {
    program[2 * i] = BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 4 * i);
    // The load has turned the word from the order of networks.
    const auto to_end = static_cast<std::uint8_t>(program.size() - 2 * i - 3);
    program[2 * i + 1] = BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ntohl(words[i]), 0, to_end);
  }
  program[program.size() - 2] = BPF_STMT(BPF_RET | BPF_K, 0xffff);
  program[program.size() - 1] = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  static_cast<void>(::setsockopt(socket, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter));
}

}  // namespace

wakeup_receiver::wakeup_receiver(const socket_folder& names) : fd_(new_socket()) {
  if (::getrandom(&address_, sizeof address_, 0) != static_cast<ssize_t>(sizeof address_))
    no_bell("getrandom");
  let_in_only(fd_.get(), address_.secret);
  let_descriptors_in(fd_.get(), false);
  const bell_name here(names.path, address_.name);
  if (::bind(fd_.get(), here.get(), here.size) != 0) no_bell("bind");
  if (!names.is_there()) return;
  file_ = socket_file(here.at.sun_path);
  if (names.for_all_users && ::chmod(here.at.sun_path, 0666) != 0) no_bell("chmod");
}

void wakeup_receiver::drain() noexcept {
  alignas(cmsghdr) rights_space<most_rights> control;
  for (int i = 0; i != most_heard_at_once; ++i) {
    msghdr ring{};
    ring.msg_control = control.data();
    ring.msg_controllen = control.size();
    if (::recvmsg(fd_.get(), &ring, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) >= 0)
      take_descriptors(ring, [this](int fd) { disposal_->close(fd); });
    else if (errno != EINTR)
      return;
  }
}

wakeup_sender::wakeup_sender(const socket_folder& names) : fd_(new_socket()), folder_(names.path) {}

/// Rings that receivers do not drain stay on the account of the socket that sent them: a few
/// hundred peers that are stopped, or hostile, could make it refuse all others. A new socket has an
/// account of its own, and what it has sent outlives it.
void wakeup_sender::ring(const wakeup_address& to) noexcept {
  const bell_name there(folder_, to.name);
  const auto send_by = [&](int socket) {
    ssize_t sent = 0;
    do {
      sent = ::sendto(socket, &to.secret, sizeof to.secret, MSG_DONTWAIT | MSG_NOSIGNAL,
                      there.get(), there.size);
    } while (sent < 0 && errno == EINTR);
    return sent >= 0 || errno != EAGAIN;
  };
  const int saved = errno;
  if (!send_by(fd_.get())) [[unlikely]]
    if (const unique_fd fresh = socket_or_none()) static_cast<void>(send_by(fresh.get()));
  errno = saved;
}

bool is_left_bell(const std::string& path) noexcept {
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  if (path.size() >= sizeof at.sun_path) return false;
  std::ranges::copy(path, at.sun_path);
  const unique_fd probe = socket_or_none();
  return probe && ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 &&
         errno == ECONNREFUSED;
}

}  // namespace weft::runtime
