// SPDX-License-Identifier: Apache-2.0
// Dumps that the program asks for, and that other processes ask for by the context's socket.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "api/core/core.hpp"
#include "support/catch.hpp"
#include "unit/wireup/raw.hpp"

namespace weft::dump_tests {

using nlohmann::json;
using weft::tests::contains;
namespace raw = weft::wireup::test;

namespace {

options alone() {
  options o;
  o.standalone = true;
  o.transports = {"self"};
  return o;
}

/// A receive that no message meets, while `look` is called in a coroutine of the same thread.
template <class Look>
task<void> with_a_receive(context& ctx, Look look) {
  std::array<std::byte, 32> in;
  scope waits(co_await current_environment());
  waits.start(ctx.world()[0].recv(in, tag{77}));
  co_await sleep_for(std::chrono::milliseconds(1));
  look();
  waits.request_stop();
  co_await waits.join();
}

/// A socket to the control plane of that context, which blocks.
unique_fd to(const context& ctx) {
  const auto where =
      wireup::parse_locator(detail::internals::core_of(ctx).manager().self().locator);
  wireup::opened socket = wireup::connect_abstract(where->socket_name);
  REQUIRE(socket.fd);
  ::fcntl(socket.fd.get(), F_SETFL, 0);
  return std::move(socket.fd);
}

/// What comes back, after the invitation.
std::vector<wireup::frame> ask(const context& ctx, const wireup::frame& request) {
  const unique_fd socket = to(ctx);
  CHECK(raw::send_raw(socket, raw::bytes_of(request)) == 0);
  std::vector<wireup::frame> said = raw::last_words(socket);
  REQUIRE(!said.empty());
  CHECK(said.front().kind == wireup::frame_kind::invitation);
  said.erase(said.begin());
  return said;
}

wireup::frame request(std::uint8_t detail = 0, std::vector<std::byte> body = {}) {
  return {wireup::frame_kind::dump_request, detail, std::move(body), {}};
}

std::string text_of(const std::vector<wireup::frame>& parts) {
  std::string all;
  for (const wireup::frame& f : parts) {
    CHECK(f.kind == wireup::frame_kind::dump_part);
    CHECK(f.detail == (&f == &parts.back() ? 1 : 0));
    all.append(reinterpret_cast<const char*>(f.body.data()), f.body.size());
  }
  return all;
}

}  // namespace

TEST_CASE("dump: a coroutine asks its own context, as text and as JSON") {
  context ctx(alone());
  std::string text, as_json;
  run(ctx, with_a_receive(ctx, [&] {
        text = ctx.dump();
        as_json = ctx.dump(dump_format::json);
      }));
  CHECK_THAT(text, contains("receive from rank 0, tag 77, 32 bytes: no message has come"));
  const json all = json::parse(as_json);
  CHECK(all.at("weft") == version());
  CHECK(all.at("pid") == ::getpid());
  const json& lane = all.at("lanes").at(0);
  CHECK(lane.at("lane") == 0);
  CHECK(lane.at("stuck") == false);
  CHECK(lane.at("pending") >= 1);
  const json& receive = lane.at("operations").at(0);
  CHECK(receive.at("kind") == "receive");
  CHECK(receive.at("peer") == 0);
  CHECK(receive.at("tag") == 77);
  CHECK(receive.at("bytes") == 32);
  CHECK_THAT(receive.at("text").get<std::string>(), contains("for at least"));  // the second dump
}

TEST_CASE("dump: another thread asks, also a context that is idle, with all its lanes") {
  options o = alone();
  o.lanes = 3;
  const context ctx(o);
  const json all = json::parse(ctx.dump(dump_format::json));
  std::set<int> lanes;
  for (const json& lane : all.at("lanes")) {
    lanes.insert(lane.at("lane").get<int>());
    CHECK(lane.at("operations").empty());
    CHECK(lane.at("operations_left_out") == 0);
  }
  CHECK(lanes == std::set{0, 1, 2});
}

TEST_CASE("dump: a lane whose progress lock another thread keeps is called stuck") {
  context ctx(alone());
  detail::core& core = detail::internals::core_of(ctx);
  std::string text, as_json;
  {
    const runtime::engine::holder hold(core.engine());
    std::thread other([&] {
      text = ctx.dump();
      as_json = ctx.dump(dump_format::json);
    });
    other.join();
  }
  CHECK_THAT(text, contains("a thread has held the progress lock for a second"));
  CHECK(json::parse(as_json).at("lanes").at(0).at("stuck") == true);
}

TEST_CASE("dump: of more than fifty operations the others are counted") {
  context ctx(alone());
  run(ctx, [](context& c) -> task<void> {
    std::array<std::byte, 8> in;
    scope waits(co_await current_environment());
    for (std::uint64_t i = 0; i != 300; ++i) waits.start(c.world()[0].recv(in, tag{1000 + i}));
    co_await sleep_for(std::chrono::milliseconds(1));
    const json lane = json::parse(c.dump(dump_format::json)).at("lanes").at(0);
    CHECK(lane.at("operations").size() == 50);
    CHECK(lane.at("operations_left_out") == 250);
    waits.request_stop();
    co_await waits.join();
  }(ctx));
}

TEST_CASE("dump: a process of this user asks by the context's socket") {
  const context ctx(alone());
  CHECK_THAT(text_of(ask(ctx, request())), contains("pending operations: "));
  CHECK(json::parse(text_of(ask(ctx, request(1)))).at("pid") == ::getpid());
}

TEST_CASE("dump: many ask at once, some hang up, and the context ends meanwhile") {
  std::vector<unique_fd> sockets;
  {
    const context ctx(alone());
    for (int i = 0; i != 30; ++i) {
      sockets.push_back(to(ctx));
      CHECK(raw::send_raw(sockets.back(), raw::bytes_of(request())) == 0);
      if (i % 3 == 0) sockets.pop_back();
    }
    CHECK(raw::last_words(sockets.front()).size() > 1);
  }
  for (const unique_fd& socket : sockets)
    for (const wireup::frame& f : raw::last_words(socket))
      CHECK((f.kind == wireup::frame_kind::invitation || f.kind == wireup::frame_kind::dump_part ||
             f.kind == wireup::frame_kind::bye));
}

TEST_CASE("dump: a request that is none ends its own connection") {
  const context ctx(alone());
  for (const wireup::frame& wrong : {request(2), request(0, std::vector<std::byte>(5))})
    CHECK(ask(ctx, wrong).empty());
  CHECK_THAT(text_of(ask(ctx, request())), contains("pending operations: "));
}

}  // namespace weft::dump_tests
