// SPDX-License-Identifier: Apache-2.0
// The TCP acceptor.
#include <new>

#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"
#include "transports/tcp/connecting/acceptor.hpp"

using weft::tests::no_memory;
using weft::transports::tcp::acceptor;
using weft::transports::tcp::offered_peer;
using weft::transports::tcp::stream_socket;
using weft::transports::tcp::token;

namespace {
struct nothing_offered final : weft::transports::tcp::offers {
  std::optional<offered_peer> offered(const token&) const noexcept override { return {}; }
  const weft::net::tls::settings* encryption_of_offers() noexcept override { return nullptr; }
  void take(const token&, stream_socket) noexcept override {}
  void turned_away() noexcept override {}
};
}  // namespace

TEST_CASE("acceptor: a port that could not be opened for want of memory is opened later") {
  if (!weft::tests::counts_allocations())
    return weft::tests::skip("the sanitizer's operator new cannot be replaced");
  bool refused = true;
  for (std::size_t after = 0; refused; ++after) {
    CAPTURE(after);
    const auto sockets = weft::runtime::make_wait_set("epoll").set;
    nothing_offered none;
    acceptor r(*sockets, none);
    try {
      const no_memory nth(after, 1);
      r.open({"lo"});
      refused = false;
    } catch (const std::exception&) {
    }
    CHECK(r.open({"lo"}).size() >= 1);
    CHECK(r.describe().find("listens on ") == 0);
  }
}
