// SPDX-License-Identifier: Apache-2.0
#include "attach.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "context_sockets.hpp"
#include "runtime/descriptors/disposal.hpp"
#include "runtime/os/errno_hint.hpp"
#include "wireup/base/frame.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::info {

namespace {

using clock = std::chrono::steady_clock;
using wireup::frame;
using wireup::frame_kind;

// A dump waits a second for each lane whose progress lock is not released.
constexpr auto patience = std::chrono::seconds(10);

[[noreturn]] void silent(pid_t pid) {
  const char state = state_of_process(pid);
  if (state == 'T' || state == 't')
    throw std::runtime_error(
        fmt::format("{} does not answer, because it is stopped (by SIGSTOP or a debugger): kill "
                    "-CONT {}, or look at it with gdb -p {} and weft's script for it "
                    "(docs/operating.md)",
                    name_of_process(pid), pid, pid));
  if (state == '?' || state == 'Z' || state == 'X')
    throw std::runtime_error(fmt::format("process {} has ended", pid));
  throw std::runtime_error(fmt::format(
      "{} has not answered for {} s: the thread of its control plane (weft-wireup) gets no time, "
      "or hangs; gdb -p {} shows where",
      name_of_process(pid), patience.count(), pid));
}

/// One try. A file is found by the eyes of its process, which may be in a container, and by a short
/// path: those of sockets have an end.
wireup::opened try_to_connect(const context_socket& to, pid_t pid) {
  const auto where = std::make_shared<runtime::disposal>();
  if (to.folder.empty()) return wireup::connect_abstract(to.name, where);
  const unique_fd folder(
      ::open(fmt::format("/proc/{}/root{}", pid, to.folder).c_str(), O_PATH | O_CLOEXEC));
  if (!folder) return {{}, errno};
  return wireup::connect_to_path(fmt::format("/proc/self/fd/{}/{}", folder.get(), to.name), where);
}

unique_fd connect_to(const context_socket& to, pid_t pid, clock::time_point give_up) {
  for (;;) {
    wireup::opened socket = try_to_connect(to, pid);
    if (socket.fd) return std::move(socket.fd);
    if (socket.error == ENOENT)
      throw std::runtime_error(fmt::format(
          "{} cannot be asked: its socket is gone from {} (WEFT_SOCKET_DIR), or the folder itself; "
          "ask it by its signal (WEFT_DUMP_SIGNAL), or look at it with gdb -p {}",
          name_of_process(pid), to.folder, pid));
    if (socket.error != EAGAIN)
      throw std::runtime_error(fmt::format("{} cannot be asked: {}", name_of_process(pid),
                                           runtime::describe_errno(socket.error)));
    if (clock::now() > give_up) silent(pid);  // its queue of clients is full
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

/// \return nothing: the other side has hung up
std::optional<frame> next_frame(const unique_fd& socket, pid_t pid, clock::time_point give_up) {
  pollfd ready{socket.get(), POLLIN, 0};
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(give_up - clock::now()).count();
    if (left <= 0) silent(pid);
    const int n = ::poll(&ready, 1, static_cast<int>(left));
    if (n == 0) silent(pid);
    if (n > 0) break;
  }
  std::array<std::byte, wireup::frame_header::size + wireup::max_frame_body> buffer;
  wireup::packet p;
  p.disposal = socket.ends_in();
  if (wireup::receive_packet(socket.get(), buffer, p) != wireup::arrival::packet) return {};
  return wireup::frame_header::parse(p.bytes, std::move(p.fds));
}

std::string ask(const context_socket& context, pid_t pid, wireup::dump_form form) {
  const auto give_up = clock::now() + patience;
  const unique_fd socket = connect_to(context, pid, give_up);
  const wireup::credentials who = wireup::credentials_of(socket.get());
  if (who.pid != pid) throw std::runtime_error(fmt::format("process {} has ended", pid));
  const auto other_version = [&] {
    return std::runtime_error(fmt::format(
        "{} gives no dump: its weft is older than this one (weft-info --version says which this "
        "is); ask it by its signal (WEFT_DUMP_SIGNAL)",
        name_of_process(pid)));
  };
  const auto invitation = next_frame(socket, pid, give_up);
  if (!invitation || invitation->kind != frame_kind::invitation) throw other_version();
  const frame request{frame_kind::dump_request, static_cast<std::uint8_t>(form), {}, {}};
  if (wireup::send_packet(socket.get(), wireup::frame_header::of(request), request.body, {}) != 0)
    throw other_version();
  std::string text;
  for (;;) {
    const auto part = next_frame(socket, pid, give_up);
    if (!part || part->kind != frame_kind::dump_part) throw other_version();
    text.append(reinterpret_cast<const char*>(part->body.data()), part->body.size());
    if (part->detail == 1) return text;
  }
}

}  // namespace

std::string dump_of(pid_t pid, bool as_json) {
  std::string all;
  for (const context_socket& one : context_sockets_of(pid))
    all += ask(one, pid, as_json ? wireup::dump_form::json : wireup::dump_form::text);
  if (all.empty())
    throw std::runtime_error(
        fmt::format("{} has no weft context at this moment", name_of_process(pid)));
  return all;
}

}  // namespace weft::info
