// SPDX-License-Identifier: Apache-2.0
// A side that gives a peer up tells the peer, and the other side's operations end with the reason.
#include <array>

#include "far_side.hpp"

namespace weft::test {

namespace {

using weft::tests::contains;

transports::wireup_message gone_parcel(std::uint32_t why, const std::string& text) {
  transports::wireup_message p =
      wireup::test::make_wireup_message(says::gone, std::string(4, '\0') + text);
  std::memcpy(p.bytes.data(), &why, sizeof why);
  return p;
}

/// Checks that the node was told that it is given up, for that reason, and that the channel has
/// ended.
void check_told(met& m, errc why, const std::string& text) {
  transports::wireup_message told = m.hear();
  while (told.kind != says::gone) told = m.hear();
  REQUIRE(told.bytes.size() >= 4);
  std::uint32_t number = 0;
  std::memcpy(&number, told.bytes.data(), sizeof number);
  CHECK(static_cast<errc>(number) == why);
  CHECK_THAT(wireup::test::text_of(told).substr(4), contains(text));
  CHECK(m.far.ends.next().channel == m.channel);
}

task<void> send_in_vain(endpoint to, errc& end) {
  std::byte out{1};
  end = (co_await as_result(within(5s, to.send({&out, 1}, tag{1})))).code();
}

task<void> receive(endpoint from, error& end) {
  std::byte in{};
  const auto r = co_await as_result(within(5s, from.recv({&in, 1}, tag{1})));
  if (!r) end = r.failure();
}

task<void> exchange(endpoint with, error& end) {
  std::byte out{1};
  co_await with.send({&out, 1}, tag{2});
  co_await receive(with, end);
}

/// As if there had been no memory for a message to the peer.
void mark_failed(detail::core& at, const endpoint& whom) {
  const std::shared_ptr<proto::peer> p = at.messenger().peers().at(whom.id());
  const runtime::engine::holder hold(at.engine());
  p->connection().mark_failed();
}

/// Gives the guest up.
task<void> greet(endpoint guest, detail::core& at, error& end) {
  std::byte in{};
  co_await guest.recv({&in, 1}, tag{2});
  mark_failed(at, guest);
  co_await receive(guest, end);
}

}  // namespace

TEST_CASE("giving up: a transport that breaks is told to the other side, and all is given back") {
  met m;
  m.offer_of(1);
  CHECK(m.hear().kind == says::answer);
  {
    const runtime::engine::holder hold(*m.engine);
    m.stubs[0]->last->on_broken(errc::protocol_error);
  }
  check_told(m, errc::protocol_error, "no correct peer sends");
  CHECK(m.receives().first == errc::protocol_error);
  CHECK(m.asked.lines() == std::vector<std::string>{"accept first0", "forget first"});
}

TEST_CASE(
    "giving up: a side that runs out of memory for a peer says so, whatever the peer awaits") {
  met m;
  mark_failed(*m.core, m.peer);
  check_told(m, errc::out_of_memory, "no memory");
  CHECK(m.receives().first == errc::out_of_memory);
}

TEST_CASE("giving up: a connection that is aborted ends at once, on both sides") {
  met m;
  m.offer_of(1);
  CHECK(m.hear().kind == says::answer);
  m.peer.abort();
  check_told(m, errc::peer_lost, "this side has aborted the connection");
  const auto [why, text] = m.receives();
  CHECK(why == errc::peer_lost);
  CHECK_THAT(text, contains("this side has aborted the connection"));
  m.peer.abort();  // there is nothing left
  CHECK(m.asked.lines() == std::vector<std::string>{"accept first0", "forget first"});
}

TEST_CASE("giving up: a peer that no transport reaches is told so") {
  met m;
  errc end = errc::ok;
  std::thread sending([&] { run(m.ctx, send_in_vain(m.peer, end)); });
  for (int offers = 0; offers != 5; ++offers) {  // each for one of three links
    const transports::wireup_message p = m.hear();
    REQUIRE(p.kind == says::offer);
    transports::wireup_message no = wireup::test::make_wireup_message(says::refusal, "");
    no.bytes.assign(p.bytes.begin(), p.bytes.begin() + 8);
    m.say(std::move(no));
  }
  sending.join();
  CHECK(end == errc::unreachable);
  check_told(m, errc::unreachable, "no transport reaches it");
}

TEST_CASE("giving up: who is told ends everything with that peer, with the reason") {
  met m;
  m.offer_of(1);
  CHECK(m.hear().kind == says::answer);
  m.say(gone_parcel(static_cast<std::uint32_t>(errc::out_of_memory), "no room\033[2J"));
  const auto [why, text] = m.receives();
  CHECK(why == errc::peer_lost);
  CHECK_THAT(text, contains("the other side gave the connection up: out of memory (\"no room?[2J"));
  CHECK(m.far.ends.next().channel == m.channel);
  CHECK(m.asked.lines() == std::vector<std::string>{"accept first0", "forget first"});
}

TEST_CASE("giving up: a reason that is none, or long, is one, too") {
  const std::uint32_t why = GENERATE(0u, 99u, 0xffffffffu);
  met m;
  m.say(why == 0 ? wireup::test::make_wireup_message(says::gone, "")
                 : gone_parcel(why, std::string(16'000, 'x')));
  const auto [end, text] = m.receives();
  CHECK(end == errc::peer_lost);
  CHECK(text.size() < 1000);
}

TEST_CASE("giving up: between two contexts, over each transport") {
  const std::string transport = GENERATE("shm", "tcp");
  CAPTURE(transport);
  options o;
  o.transports = {transport};
  o.job_key = std::string(32, 'a');
  auto made = std::make_unique<detail::core>(o);
  detail::core& at = *made;
  context host = detail::internals::context_of(std::move(made)), guest(o);
  listener listening =
      run(host, host.listen("unix://weft-giving-up-" + std::to_string(::getpid())));
  error here(errc::ok), there(errc::ok);
  std::thread other([&] {
    endpoint to = run(guest, guest.connect(listening.address()));
    run(guest, exchange(to, there));
  });
  endpoint from = run(host, listening.accept());
  run(host, greet(from, at, here));
  other.join();
  CHECK(here.kind() == errc::out_of_memory);
  CHECK(there.kind() == errc::peer_lost);
  CHECK_THAT(there.what(), contains("the other side gave the connection up: out of memory"));
}

}  // namespace weft::test
