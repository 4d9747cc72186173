// SPDX-License-Identifier: Apache-2.0
// How contexts prove their identities: the computed values, and the lies that must fail.
#include <weft/error.hpp>

#include "hex.hpp"
#include "raw.hpp"
#include "wireup/base/byte_io.hpp"
#include "wireup/base/random.hpp"

namespace weft::wireup::test {

namespace {

hello claims() {
  hello h = good_hello();
  h.who.job = random_id();
  h.who.rank = 4;
  h.private_data = "hi";
  return h;
}

admission some_admission() {
  admission medium;
  fill_random(medium);
  return medium;
}

/// The public key of a context.
public_key key_shown_by(node& host) {
  return decode_invitation(raw_connection(host->self().locator).invitation).value->key;
}

std::string refusal_of(const raw_end& end) {
  const std::vector<frame> said = last_words(end);
  REQUIRE(said.size() == 1);
  return decode_refusal(said.front());
}

}  // namespace

TEST_CASE("keys are those of X25519, ids their SHA-256, as others compute them") {
  std::array<std::byte, 32> first, second;
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = static_cast<std::byte>(i + 1);
    second[i] = static_cast<std::byte>(i + 0x41);
  }
  const context_key one(first), other(second);
  CHECK(hex(one.shown()) == "07a37cbc142093c8b755dc1b10e86cb426374ad16aa853ed0bdfc0b2b86d1c7c");
  CHECK(hex(other.shown()) == "64b101b1d0be5a8704bd078f9895001fc03e8e9f9522f188dd128d9846d48466");
  const auto common = one.agree(other.shown());
  REQUIRE(common);
  CHECK(hex(*common) == "26c2c17fdb82161cb21ad16e721315355b64d1763119b10bfc962530dc7cc163");
  CHECK(other.agree(one.shown()) == common);
  // aaa8fff703b50b22 97f4f6e13508f724, read as two little-endian numbers.
  CHECK(to_text(one.id()) == "220bb503f7ffa8aa24f70835e1f6f497");
  CHECK(id_of(one.shown()) == one.id());
}

TEST_CASE("secrets and proofs are computed as docs/wire-format.md has it") {
  const context_key listener, caller;
  const admission medium = some_admission();
  responder listens(listener, medium);
  initiator connects(caller, medium);
  const frame invitation = listens.invite();
  connects.hear(invitation);
  const frame private_data = connects.greet(claims());
  REQUIRE(listens.judge(private_data).value);
  const frame answer = listens.welcome(good_hello().who);

  const auto part = [](const frame& f, std::size_t from, std::size_t size) {
    return std::span(f.body).subspan(from, size);
  };
  const auto all_but_proof = [&](const frame& f) { return part(f, 0, f.body.size() - 32); };
  const auto proof_in = [&](const frame& f) { return hex(part(f, f.body.size() - 32, 32)); };
  const digest secret = job_key::of(medium).sign(
      {text_bytes("weft 1: the secret of a channel"), *listener.agree(caller.shown()),
       part(invitation, 8, 64), part(private_data, 8, 64)});
  CHECK(secret == listens.secret());
  CHECK(proof_in(private_data) ==
        hex(job_key::of(secret).sign(
            {text_bytes("weft 1: I connected and am who I say"), all_but_proof(private_data)})));
  CHECK(proof_in(answer) ==
        hex(job_key::of(secret).sign({text_bytes("weft 1: I listened and am who I say"),
                                      private_data.body, all_but_proof(answer)})));
}

TEST_CASE("two contexts convince each other, and have a secret of their own then") {
  const context_key listener, caller;
  const admission medium = some_admission();
  responder listens(listener, medium);
  initiator connects(caller, medium);
  CHECK(connects.hear(listens.invite()).value == listener.id());
  const hello said = claims();
  const auto heard = listens.judge(connects.greet(said));
  REQUIRE(heard.value);
  CHECK(heard.value->who.id == caller.id());
  CHECK(heard.value->who.job == said.who.job);
  CHECK(heard.value->who.rank == 4);
  CHECK(heard.value->private_data == "hi");
  const auto answered = connects.judge(listens.welcome(said.who));
  REQUIRE(answered.value);
  CHECK(answered.value->id == listener.id());
  CHECK(answered.value->rank == 4);
  CHECK(listens.secret() == connects.secret());

  responder again(listener, medium);
  initiator anew(caller, medium);
  anew.hear(again.invite());
  REQUIRE(again.judge(anew.greet(said)).value);
  CHECK(again.secret() != listens.secret());
}

TEST_CASE("a changed bit of what introduces two contexts convinces nobody") {
  const context_key listener, caller;
  responder listens(listener, {});
  initiator connects(caller, {});
  connects.hear(listens.invite());
  const frame private_data = connects.greet(claims());
  for (std::size_t at = 0; at < private_data.body.size(); ++at) {
    frame changed{private_data.kind, 0, private_data.body, {}};
    changed.body[at] ^= static_cast<std::byte>(1u << at % 8);
    CHECK_FALSE(listens.judge(changed).value);
  }
  REQUIRE(listens.judge(private_data).value);
  const frame answer = listens.welcome(good_hello().who);
  for (std::size_t at = 0; at < answer.body.size(); ++at) {
    // Two bytes are not checked, but the proof covers them too.
    frame changed{answer.kind, 0, answer.body, {}};
    changed.body[at] ^= static_cast<std::byte>(1u << at % 8);
    CHECK_FALSE(connects.judge(changed).value);
  }
  CHECK(connects.judge(answer).value);
}

TEST_CASE("what introduced two contexts once introduces nobody again, nor elsewhere") {
  const context_key listener, caller;
  const auto overheard = [&](const admission& medium) {
    responder listens(listener, medium);
    initiator connects(caller, medium);
    connects.hear(listens.invite());
    frame f = connects.greet(claims());
    REQUIRE(listens.judge(f).value);
    return f;
  };
  const frame said = overheard({});
  CHECK_FALSE(responder(listener, {}).judge(said).value);
  // Under another exchange of proofs of the job's key.
  const admission one = some_admission();
  responder listens(listener, one);
  initiator connects(caller, some_admission());
  connects.hear(listens.invite());
  CHECK_FALSE(listens.judge(connects.greet(claims())).value);
  // A hello cannot be sent back as a welcome, nor a welcome be used twice.
  responder first(listener, {}), second(listener, {});
  initiator asks(caller, {}), asks_again(caller, {});
  asks.hear(first.invite());
  REQUIRE(first.judge(asks.greet(claims())).value);
  asks_again.hear(first.invite());  // an impostor repeats it
  asks_again.greet(claims());
  const frame welcome = first.welcome(good_hello().who);
  CHECK(asks.judge(welcome).value);
  CHECK_FALSE(asks_again.judge(welcome).value);
}

TEST_CASE("a key that would give everybody the same secret is nobody's") {
  const context_key listener;
  std::vector<public_key> bad(2);
  bad[1][0] = std::byte{1};  // points of small order
  for (const public_key& key : bad) {
    CHECK_FALSE(listener.agree(key));
    responder listens(listener, {});
    hello h = claims();
    h.key = key;
    CHECK_FALSE(listens.judge(encode(h)).value);
    initiator connects(listener, {});
    REQUIRE(connects.hear(encode(invitation{key, {}})).value);
    CHECK_THROWS_AS(connects.greet(claims()), error);
  }
}

TEST_CASE("nobody comes in as a context whose key it does not have") {
  node host, honest;
  const outcome known = honest.connect(host->self().locator);
  REQUIRE(known.channel);
  const context_key own;
  for (const public_key& claimed : {key_shown_by(honest), key_shown_by(host)}) {
    const raw_end end = raw_connection(host->self().locator);
    frame f = hello_for(end, good_hello(), own);
    std::copy(claimed.begin(), claimed.end(), f.body.begin() + 8);
    REQUIRE(send_raw(end, bytes_of(f)) == 0);
    CHECK_THAT(refusal_of(end), weft::tests::contains("cannot prove"));
  }
  known.channel->send(make_wireup_message(1, "still here"));
  CHECK(text_of(host.wireup_messages.next().wireup_message) == "still here");
}

TEST_CASE("a context that is led to itself by somebody else notices") {
  // It connects to a listener that forwards all packets to the context's own socket and back.
  node victim;
  const context_key any;
  const std::string name = socket_name_of(any.id());
  opened listening = listen_abstract(name);
  REQUIRE(listening.fd);
  REQUIRE(::fcntl(listening.fd.get(), F_SETFL, 0) == 0);
  victim->connect(name, node::into(victim.outcomes));
  const unique_fd caller(::accept4(listening.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  const raw_end inside = raw_connection(victim->self().locator);
  REQUIRE(send_raw(caller, bytes_of(inside.invitation)) == 0);
  const outcome o = victim.outcomes.next();
  CHECK_FALSE(o.channel);
  CHECK_THAT(o.failure, weft::tests::contains("another"));
}

TEST_CASE("who is looked for by a locator is the one that answers, or nobody") {
  node guest;
  const context_key wanted, other;
  opened listening = listen_abstract(socket_name_of(wanted.id()));
  REQUIRE(listening.fd);
  REQUIRE(::fcntl(listening.fd.get(), F_SETFL, 0) == 0);
  guest->connect(socket_name_of(wanted.id()), node::into(guest.outcomes));
  const unique_fd one(::accept4(listening.fd.get(), nullptr, nullptr, SOCK_CLOEXEC));
  responder listens(other, {});
  REQUIRE(send_raw(one, bytes_of(listens.invite())) == 0);
  const outcome o = guest.outcomes.next();
  CHECK_FALSE(o.channel);
  CHECK(o.kind == errc::unreachable);
  CHECK_THAT(o.failure, weft::tests::contains("another process of the job answers"));
  CHECK(last_words(one).empty());  // it was told nothing
}

}  // namespace weft::wireup::test
