// SPDX-License-Identifier: Apache-2.0
// A peer claims the address of another listener as its own.
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>

#include "far_side.hpp"
#include "unit/wireup/raw.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::test {

namespace {

/// Frees the name of a Unix socket that listens in this process: closes the socket and the spare
/// descriptor that it keeps.
void free_name(const std::string& name) {
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int fd = std::stoi(entry.path().filename());
    sockaddr_un at{};
    socklen_t size = sizeof at;
    int listens = 0;
    socklen_t one = sizeof listens;
    if (::getsockname(fd, reinterpret_cast<sockaddr*>(&at), &size) != 0 ||
        at.sun_family != AF_UNIX ||
        std::string(at.sun_path, size - offsetof(sockaddr_un, sun_path)) != '\0' + name ||
        ::getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &one) != 0 || listens == 0)
      continue;
    const unique_fd nothing(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    REQUIRE(::dup3(nothing.get(), fd, O_CLOEXEC) == fd);
  }
}

task<void> send_one(endpoint to) {
  std::byte out{1};
  static_cast<void>(co_await as_result(within(100ms, to.send({&out, 1}, tag{1}))));
}

}  // namespace

TEST_CASE("third party: whoever answers in a peer's place is let go at once") {
  options o;
  o.transports = {"self", "shm", "tcp"};
  o.job_key = std::string(32, 'a');
  context ctx(o);
  listener listening = run(ctx, ctx.listen("tcp://127.0.0.1:0"));

  wireup::tcp_settings tcp;
  tcp.key = wireup::job_key::from_text(o.job_key, "key");
  node far({}, tcp);
  far->request_connection(listening.address(), "", node::into(far.outcomes));
  endpoint peer = run(ctx, listening.accept());
  REQUIRE(far.outcomes.next().channel);

  const std::string name = wireup::socket_name_of(far->self().id);
  free_name(name);
  const wireup::opened third = wireup::listen_abstract(name);
  REQUIRE(third.fd);
  std::jthread answering([&third] {
    pollfd somebody{third.fd.get(), POLLIN, 0};
    REQUIRE(::poll(&somebody, 1, 30'000) == 1);
    const unique_fd caller(::accept(third.fd.get(), nullptr, nullptr));
    const wireup::context_key key;
    REQUIRE(wireup::test::send_raw(
                caller, wireup::test::bytes_of(wireup::responder(key, {}).invite())) == 0);
    CHECK(wireup::test::last_words(caller).empty());
  });
  run(ctx, send_one(peer));
  answering.join();
  CHECK(far.wireup_messages.next().wireup_message.kind == says::offer);  // by tcp
}

}  // namespace weft::test
