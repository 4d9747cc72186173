// SPDX-License-Identifier: Apache-2.0
// The bytes are those of docs/wire-format.md: a change here is a change of the wire format.
#include <string>

#include "hex.hpp"
#include "support/catch.hpp"
#include "wireup/auth/hello.hpp"
#include "wireup/bootstrap/bootstrap_wire.hpp"
#include "wireup/job/job_wire.hpp"

namespace weft::wireup::test {

namespace {

const std::string name = "weft-00112233445566778899aabbccddeeff";

identity sample() {
  identity who;
  who.job.words = {0x1817161514131211, 0x201f1e1d1c1b1a19};
  who.rank = 0x24232221;
  who.lane = 0x1f;
  who.locator = name;
  return who;
}

std::string hex_of(const std::string& text) { return hex(std::as_bytes(std::span(text))); }

public_key sample_key() {
  public_key key;
  key.fill(std::byte{0xaa});
  return key;
}
nonce sample_nonce() {
  nonce fresh;
  fresh.fill(std::byte{0xbb});
  return fresh;
}
digest sample_proof() {
  digest proof;
  proof.fill(std::byte{0xcc});
  return proof;
}

/// So many bytes that are all alike.
std::string repeated(const std::string& two_digits, int times = 32) {
  std::string text;
  for (int i = 0; i < times; ++i) text += two_digits;
  return text;
}

const std::string sample_hex =
    "1112131415161718191a1b1c1d1e1f20"
    "21222324"
    "1f"
    "2500";

}  // namespace

TEST_CASE("a frame's header, byte by byte") {
  frame f{frame_kind::wireup_message, 7, std::vector<std::byte>(0x1234), {}};
  CHECK(hex(frame_header::of(f)) == "0407000034120000");
  f.fds.resize(3);
  CHECK(hex(frame_header::of(f)) == "0407030034120000");
}

TEST_CASE(
    "a frame's detail: of a wire-up message, of a refusal for want of a lane, and of a bye that "
    "gives a reason") {
  const auto parses = [](frame_kind kind, std::uint8_t detail) {
    const auto head = frame_header::of({kind, detail, {}, {}});
    const auto back = frame_header::parse(head, {});
    return back && back->detail == detail;
  };
  CHECK(parses(frame_kind::wireup_message, 255));
  CHECK(parses(frame_kind::refusal, 0));
  CHECK(parses(frame_kind::refusal, 1));
  CHECK(parses(frame_kind::refusal, 2));
  CHECK_FALSE(parses(frame_kind::refusal, 3));
  CHECK_FALSE(parses(frame_kind::welcome, 1));
  CHECK(parses(frame_kind::bye, 2));
  CHECK_FALSE(parses(frame_kind::bye, 3));
}

TEST_CASE("invitation, byte by byte, and back") {
  const frame f = encode(invitation{sample_key(), sample_nonce()});
  CHECK(f.kind == frame_kind::invitation);
  CHECK(hex(f.body) == "574546540b000000" + repeated("aa") + repeated("bb"));
  const decoded<invitation> back = decode_invitation(f);
  REQUIRE(back.value);
  CHECK(back.value->key == sample_key());
  CHECK(back.value->fresh == sample_nonce());
}

TEST_CASE("hello, byte by byte, and back") {
  hello h;
  h.key = sample_key();
  h.fresh = sample_nonce();
  h.proof = sample_proof();
  h.why = purpose::meet;
  h.who = sample();
  h.lane = 0x61;
  h.listener_number = 0x3132;
  h.ticket = 0x4142;
  h.private_data = "hi";
  const frame f = encode(h);
  CHECK(f.kind == frame_kind::hello);
  CHECK(hex(f.body) == "574546540b000261" + repeated("aa") + repeated("bb") + sample_hex +
                           hex_of(name) +
                           "3231000000000000"
                           "4241000000000000"
                           "0200" +
                           hex_of("hi") + repeated("cc"));
  const decoded<hello> back = decode_hello(f);
  REQUIRE(back.value);
  CHECK(back.value->why == purpose::meet);
  CHECK(back.value->key == h.key);
  CHECK(back.value->fresh == h.fresh);
  CHECK(back.value->proof == h.proof);
  CHECK(back.value->who.id == id_of(h.key));
  CHECK(back.value->who.job == h.who.job);
  CHECK(back.value->who.rank == h.who.rank);
  CHECK(back.value->who.lane == h.who.lane);
  CHECK(back.value->lane == h.lane);
  CHECK(back.value->who.locator == name);
  CHECK(back.value->listener_number == h.listener_number);
  CHECK(back.value->ticket == h.ticket);
  CHECK(back.value->private_data == "hi");
}

TEST_CASE("a lane that no context can have is no identity") {
  hello h;
  h.who = sample();
  h.who.lane = proto::most_lanes;
  CHECK_FALSE(decode_hello(encode(h)).value);
  CHECK_FALSE(decode_welcome(encode_welcome({h.who, {}})).value);
  h.who.lane = 0;
  h.lane = 255;  // asked for, and refused later
  CHECK(decode_hello(encode(h)).value);
}

TEST_CASE("welcome, refusal and the TCP side, byte by byte, and back") {
  const frame yes = encode_welcome({sample(), sample_proof()});
  CHECK(hex(yes.body) == "574546540b000000" + sample_hex + hex_of(name) + repeated("cc"));
  REQUIRE(decode_welcome(yes).value);
  CHECK(decode_welcome(yes).value->who.rank == sample().rank);
  CHECK(decode_welcome(yes).value->proof == sample_proof());

  const frame refusal = encode_refusal("no");
  CHECK(hex(refusal.body) == "0200" + hex_of("no"));
  CHECK(decode_refusal(refusal) == "no");
  CHECK(refusal.detail == 0);
  CHECK(encode_refusal("no", refusal_kind::no_such_lane).detail == 1);

  const auto question = encode_listener_question();
  CHECK(hex(question) == "574546540b000000");
  CHECK(question.size() == listener_question_size);
  CHECK(is_listener_question(question));
  const auto answer = encode(listener_answer{0x5152, name});
  CHECK(hex(answer) ==
        "574546540b00"
        "5251000000000000"
        "2500" +
            hex_of(name));
  CHECK(answer.size() == listener_answer_size);
  REQUIRE(decode_listener_answer(answer));
  CHECK(decode_listener_answer(answer)->listener_number == 0x5152);
  CHECK(decode_listener_answer(answer)->locator == name);
}

TEST_CASE("what launcher and ranks say, byte by byte, and back") {
  const frame job_says = encode(job_hello{sample().job, 5});
  CHECK(hex(job_says.body) ==
        "574546540b000000"
        "1112131415161718191a1b1c1d1e1f20"
        "05000000");
  CHECK(decode_job_hello(job_says)->rank == 5);
  const frame answer = encode(job_welcome{sample().job, 9});
  CHECK(hex(answer.body) ==
        "574546540b000000"
        "1112131415161718191a1b1c1d1e1f20"
        "09000000");
  CHECK(decode_job_welcome(answer)->size == 9);
  CHECK(hex(encode_publish(name).body) == "2500" + hex_of(name));
  CHECK(*decode_publish(encode_publish(name)) == name);
  CHECK(hex(encode(job_find{6, {}}).body) == "060000000000");
  const auto find = decode_find(encode(job_find{6, name}));
  CHECK((find && find->rank == 6 && find->gone == name));
  CHECK(hex(encode(job_found{6, ""}).body) ==
        "06000000"
        "0000");
  CHECK(decode_found(encode(job_found{6, name}))->locator == name);
  CHECK(hex(encode(job_ended{6, true}).body) ==
        "06000000"
        "01");
  CHECK(decode_ended(encode(job_ended{6, true}))->died);
}

TEST_CASE("what ranks and the rank 0 that they meet at say, byte by byte, and back") {
  const frame says = encode(root_hello{5, 9, sample().job});
  CHECK(hex(says.body) ==
        "574546540b000000"
        "0500000009000000"
        "1112131415161718191a1b1c1d1e1f20");
  const auto hello = decode_root_hello(says);
  CHECK((hello && hello->rank == 5 && hello->size == 9 && hello->host == sample().job));
  const frame answer = encode(root_welcome{sample().job, 9, 2, 3});
  CHECK(hex(answer.body) ==
        "574546540b000000"
        "1112131415161718191a1b1c1d1e1f20"
        "090000000200000003000000");
  const auto welcome = decode_root_welcome(answer);
  CHECK((welcome && welcome->size == 9 && welcome->local_size == 2 && welcome->per_host == 3));
  CHECK(hex(encode_directory_find(16).body) == "10000000");
  CHECK(decode_directory_find(encode_directory_find(16)) == 16);
  const frame part = encode_directory_part({"", name, ""}, 1);
  CHECK(hex(part.body) == "0100000002002500" + hex_of(name) + "0000");
  const auto back = decode_directory_part(part);
  REQUIRE(back);
  CHECK((back->first == 1 && back->locators == std::vector<std::string>{name, ""}));
  std::vector<job_ended> ends{{6, true}, {7, false}};
  const frame over = encode_ranks_ended(ends);
  CHECK(ends.empty());
  CHECK(hex(over.body) == "06000000010700000000");
  const auto told = decode_ranks_ended(over);
  REQUIRE((told && told->size() == 2));
  CHECK((told->at(0).rank == 6 && told->at(0).died && !told->at(1).died));
  CHECK(is_orderly_bye(encode_orderly_bye()));
}

}  // namespace weft::wireup::test
