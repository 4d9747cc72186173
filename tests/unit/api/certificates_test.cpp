// SPDX-License-Identifier: Apache-2.0
// Services that have certificates, and no job key, in common.
#include "support/certificates.hpp"

#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "net/tls/settings.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using namespace weft;
using namespace std::chrono_literals;
using weft::tests::authority;
using weft::tests::contains;

namespace {

bool absent() {
  if (net::tls::is_built_in()) return false;
  tests::skip("weft is built without OpenSSL");
  return true;
}

/// Over TCP, and encrypted also on this host.
options over_tcp() {
  options o;
  o.transports = {"self", "tcp"};
  o.tcp_tls = tcp_encryption::yes;
  o.standalone = true;
  return o;
}

constexpr am echoed{1};

/// Runs in a thread of its own, as another program would. \return what went wrong
template <class F>
std::string elsewhere(const options& chosen, F f) {
  std::string failure;
  std::thread program([&] {
    try {
      context ctx(chosen);
      run(ctx, f(ctx));
    } catch (const error& e) {
      failure = e.what();
    }
  });
  program.join();
  return failure;
}

}  // namespace

TEST_CASE("certificates: a service and its guests exchange messages without a common key") {
  if (absent()) return;
  const authority common;
  context ctx(over_tcp());
  const std::vector<std::byte> sent(1 << 20, std::byte{7});
  const auto serve = [&]() -> task<void> {
    const tls_files services = common.issue();
    listener listening = co_await ctx.listen("tcp://127.0.0.1:0", services);
    const std::string address = listening.address();
    std::string failure = "it has not ended";
    std::thread guest([&] {
      failure = elsewhere(over_tcp(), [&](context& there) -> task<void> {
        const tls_files own = common.issue({.subject = "guest 1", .names = "DNS:guest.example"});
        const endpoint service = co_await within(30s, there.connect(address, "hi", own));
        co_await within(30s, service.send(sent, tag{1}));
        std::vector<std::byte> back(sent.size());
        co_await within(30s, service.recv(std::span(back), tag{2}));
        if (back != sent) throw error(errc::protocol_error, "other bytes came back");
        if (service.describe().find("encrypted") == std::string::npos)
          throw error(errc::protocol_error, service.describe());
      });
    });
    listener::connection_request request = co_await within(30s, listening.next());
    CHECK(request.private_data() == "hi");
    REQUIRE(request.certificate() != nullptr);
    CHECK(request.certificate()->subject == "CN=guest 1");
    CHECK(request.certificate()->names == std::vector<std::string>{"DNS:guest.example"});
    const endpoint peer = co_await request.accept();
    std::vector<std::byte> got(sent.size());
    co_await within(30s, peer.recv(std::span(got), tag{1}));
    CHECK(got == sent);
    co_await within(30s, peer.send(got, tag{2}));
    guest.join();
    CHECK(failure == "");
  };
  run(ctx, serve());
}

TEST_CASE("certificates: those of the options are for all addresses tcp://, and for no other") {
  if (absent()) return;
  const authority common;
  options chosen = over_tcp();
  chosen.tls = common.issue();
  context ctx(chosen);
  const auto serve = [&]() -> task<void> {
    const handler echo = ctx.on<int(int)>(echoed, [](int n) { return n; });
    listener listening = co_await ctx.listen("tcp://127.0.0.1:0");
    listener other = co_await ctx.listen("unix://certificates-" + std::to_string(::getpid()));
    scope serving;
    serving.start(listening.accept_all());
    const std::string address = listening.address();
    std::string failure = "it has not ended", of_unknown = failure;
    event ended;
    std::thread guests([&] {
      options own = over_tcp();
      own.tls = common.issue();
      failure = elsewhere(own, [&](context& there) -> task<void> {
        reconnecting_endpoint service(there, address);
        const int answer = co_await within(30s, service.call<int>(echoed, 5));
        if (answer != 5) throw error(errc::protocol_error, "another answer");
      });
      own.tls = {};
      own.job_key = std::string(32, 'a');
      of_unknown = elsewhere(
          own, [&](context& there) -> task<void> { co_await within(30s, there.connect(address)); });
      ended.set();
    });
    co_await within(60s, ended.wait());
    guests.join();
    listening.close();
    co_await serving.join();
    CHECK(failure == "");
    CHECK_THAT(of_unknown, contains("wants a certificate, and this side shows none"));
  };
  run(ctx, serve());
}

TEST_CASE("certificates: what cannot be meant is refused before anything is tried") {
  if (absent()) return;
  const authority common;
  options chosen = over_tcp();
  chosen.tls = common.issue();
  chosen.tls.key = "/no/such/file";
  CHECK_THROWS_WITH(context(chosen), contains("'/no/such/file' (WEFT_TLS_KEY) cannot be read"));
  chosen.tls = common.issue();
  chosen.tcp_tls = tcp_encryption::no;
  CHECK_THROWS_WITH(context(chosen), contains("WEFT_TCP_TLS=no"));
  chosen.tls = {};
  context bare(chosen);
  CHECK_THROWS_WITH(run(bare, bare.listen("tcp://127.0.0.1:0", common.issue())),
                    contains("WEFT_TCP_TLS=no"));
  chosen = over_tcp();
  chosen.standalone = false;
  context ctx(chosen);
  CHECK_THROWS_WITH(run(ctx, ctx.listen("any://127.0.0.1:0", common.issue())),
                    contains("certificates are for addresses tcp://"));
  CHECK_THROWS_WITH(run(ctx, ctx.listen("tcp://127.0.0.1:0")), contains("WEFT_TLS_CERTIFICATE"));
  CHECK_THROWS_WITH(run(ctx, ctx.connect("tcp://127.0.0.1:9", {}, {"x", {}, {}})),
                    contains("private key is missing"));
}
