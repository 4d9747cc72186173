// SPDX-License-Identifier: Apache-2.0
// A process that poses as its peer, by forwarding the peer's packets.
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <future>
#include <string>

#include "runtime/descriptors/fd.hpp"
#include "support/catch.hpp"
#include "support/no_events.hpp"
#include "wireup/manager/connection_manager.hpp"
#include "wireup/sockets/address.hpp"
#include "wireup/sockets/locator.hpp"
#include "wireup/sockets/unix_socket.hpp"

using namespace weft;

namespace {

/// Listens, and forwards every packet to the socket with the given name, and back.
class relay {
 public:
  explicit relay(const std::string& served_address) {
    wireup::opened listening = wireup::listen_abstract(
        wireup::listener_socket_name(wireup::parse_address(served_address).name));
    REQUIRE(listening.fd);
    std::array<int, 2> ends{};
    REQUIRE(::pipe(ends.data()) == 0);
    pid_ = ::fork();
    REQUIRE(pid_ >= 0);
    told_ = unique_fd(ends[1]);
    const unique_fd hears(ends[0]);
    if (pid_ != 0) return;
    std::array<char, 64> name{};
    const ssize_t n = ::read(hears.get(), name.data(), name.size());
    if (n > 0) pass_on(listening.fd, std::string(name.data(), static_cast<std::size_t>(n)));
    ::_exit(0);
  }
  ~relay() {
    told_ = {};
    ::waitpid(pid_, nullptr, 0);
  }
  relay(const relay&) = delete;
  relay& operator=(const relay&) = delete;

  void begin(const std::string& socket_name) const {
    REQUIRE(::write(told_.get(), socket_name.data(), socket_name.size()) ==
            static_cast<ssize_t>(socket_name.size()));
  }

 private:
  static void pass_on(const unique_fd& listening, const std::string& name) {
    ::fcntl(listening.get(), F_SETFL, 0);
    const unique_fd one(::accept(listening.get(), nullptr, nullptr));
    wireup::opened other = wireup::connect_abstract(name);
    if (!one || !other.fd) return;
    std::array<pollfd, 2> both{pollfd{one.get(), POLLIN, 0}, pollfd{other.fd.get(), POLLIN, 0}};
    while (::poll(both.data(), both.size(), -1) > 0)
      for (std::size_t i = 0; i != 2; ++i) {
        if (both[i].revents == 0) continue;
        std::array<std::byte, 32 * 1024> packet;
        const ssize_t n = ::recv(both[i].fd, packet.data(), packet.size(), MSG_DONTWAIT);
        if (n <= 0) return;
        static_cast<void>(
            ::send(both[1 - i].fd, packet.data(), static_cast<std::size_t>(n), MSG_NOSIGNAL));
      }
  }

  pid_t pid_ = -1;
  unique_fd told_;
};

}  // namespace

TEST_CASE("impostor: a context that somebody leads to itself does not take it for itself") {
  const std::string served_address = "unix://weft-relay-" + std::to_string(::getpid());
  const relay between(served_address);
  weft::tests::no_events none;
  wireup::connection_manager victim({}, none);
  victim.start_accepting();
  std::promise<std::string> answered;
  victim.request_connection(served_address, "hello",
                            [&](const wireup::channel_ptr& c, const wireup::failure& why) {
                              answered.set_value(c ? "it was let in" : why.text);
                            });
  between.begin(wireup::parse_locator(victim.self().locator)->socket_name);
  CHECK_THAT(answered.get_future().get(), weft::tests::contains("it says that it is this context"));
}
