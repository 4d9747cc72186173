// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of descriptors and files.
#pragma once

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <weft/weft.hpp>

#include "runtime/descriptors/fd.hpp"
#include "runtime/sleep/wait_set.hpp"
#include "support/catch.hpp"

namespace weft::tests {

/// The options of a context that waits in this way.
inline options waiting(progress_mode mode, const std::string& wait_set) {
  options o;
  o.progress = mode;
  o.wait_set = wait_set;
  o.standalone = true;
  return o;
}

inline bool has_uring() {
  static const bool has = runtime::make_wait_set("auto").reason.empty();
  return has;
}

/// A test with this fixture runs once for each wait set that is available.
struct each_set {
  std::string set = has_uring() ? GENERATE(as<std::string>(), "uring", "epoll") : "epoll";
  Catch::ScopedMessage named{
      Catch::MessageBuilder("", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info) << set};
};

/// A test with this fixture runs once for each wait set and progress mode.
struct each_way : each_set {
  progress_mode mode =
      GENERATE(progress_mode::dedicated, progress_mode::polling, progress_mode::interrupt);
  context ctx{waiting(mode, set)};
  Catch::ScopedMessage mode_named{
      Catch::MessageBuilder("", CATCH_INTERNAL_LINEINFO, Catch::ResultWas::Info)
      << "mode " << static_cast<int>(mode)};
};

/// Two connected descriptors.
struct ends {
  unique_fd in, out;
};

inline ends make_pipe(int flags = O_CLOEXEC) {
  std::array<int, 2> fds{};
  REQUIRE(::pipe2(fds.data(), flags) == 0);
  return {unique_fd(fds[0]), unique_fd(fds[1])};
}

inline ends make_sockets() {
  std::array<int, 2> fds{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds.data()) == 0);
  return {unique_fd(fds[0]), unique_fd(fds[1])};
}

inline void put(int fd, std::string_view text) {
  REQUIRE(::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
}

/// Writes until there is no room. The descriptor is non-blocking. \return how many bytes
inline std::size_t fill(int fd) {
  const std::vector<std::byte> zeros(4096);
  std::size_t all = 0;
  for (ssize_t n = 0; (n = ::write(fd, zeros.data(), zeros.size())) > 0;)
    all += static_cast<std::size_t>(n);
  return all;
}

/// The text of an awaitable's failure of that kind.
template <class X>
std::string failure_of(context& ctx, errc kind, X x) {
  try {
    sync_wait(ctx, std::move(x));
  } catch (const error& e) {
    CHECK(e.kind() == kind);
    return e.what();
  }
  return "it was done";
}

}  // namespace weft::tests
