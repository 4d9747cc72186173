// SPDX-License-Identifier: Apache-2.0
// The job's key, and the handshake that proves it, without sockets.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <weft/error.hpp>

#include "hex.hpp"
#include "support/catch.hpp"
#include "wireup/auth/handshake.hpp"
#include "wireup/sockets/locator.hpp"
#include "wireup/sockets/unix_socket.hpp"

namespace weft::wireup::test {

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

class key_file {
 public:
  explicit key_file(const std::string& content, mode_t mode = 0600)
      : path("weft-key-" + std::to_string(::getpid())) {
    std::ofstream(path) << content;
    REQUIRE(::chmod(path.c_str(), mode) == 0);
  }
  ~key_file() { std::remove(path.c_str()); }
  const std::string path;
};

}  // namespace

TEST_CASE("a key signs as RFC 4231 has it") {
  // Test case 1; the key of case 2 ("Jefe") is shorter than weft takes.
  const job_key key = job_key::from_text(std::string(40, '0').replace(0, 40,
                                                                      "0b0b0b0b0b0b0b0b0b0b"
                                                                      "0b0b0b0b0b0b0b0b0b0b"),
                                         "the test");
  CHECK(hex(key.sign({bytes_of("Hi There")})) ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  CHECK(key.sign({bytes_of("Hi "), bytes_of("There")}) == key.sign({bytes_of("Hi There")}));
}

TEST_CASE("a key is read from text and from a file, and nothing else is") {
  const job_key key = job_key::random();
  CHECK(key.to_text().size() == 64);
  CHECK(key.to_text() != job_key::random().to_text());
  CHECK(job_key::from_text(" " + key.to_text() + "\n", "the test").to_text() == key.to_text());
  for (const char* bad :
       {"", "00", "0123456789abcdef0123456789abcde", "0123456789abcdef0123456789abcdeg",
        "-123456789abcdef0123456789abcdef0"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH(job_key::from_text(bad, "WEFT_JOB_KEY"),
                      weft::tests::starts_with("WEFT_JOB_KEY holds no job key"));
  }
  CHECK_THROWS_AS(job_key::from_text(std::string(130, 'a'), "the test"), error);
  // A secret that is nearly right must not appear in a log.
  CHECK_THROWS_WITH(job_key::from_text("secret" + key.to_text(), "the test"),
                    !weft::tests::contains(key.to_text()));

  const key_file good(key.to_text() + "\n");
  CHECK(job_key::from_file(good.path).to_text() == key.to_text());
  CHECK_THROWS_WITH(job_key::from_file("no/such/file"), weft::tests::contains("no/such/file"));
  CHECK_THROWS_WITH(job_key::from_file("."), weft::tests::contains("not a file"));
}

TEST_CASE("a key in a file that others may read is refused") {
  const key_file open(job_key::random().to_text(), 0644);
  CHECK_THROWS_WITH(job_key::from_file(open.path), weft::tests::contains("chmod 600"));
}

TEST_CASE("two who know the key convince each other") {
  const job_key key = job_key::random();
  prover connects(key);
  const challenger listens(key);
  const auto p = connects.answer(listens.question());
  REQUIRE(p);
  const auto confirmation = listens.judge(*p);
  REQUIRE(confirmation);
  CHECK(connects.confirmed_by(*confirmation));
}

TEST_CASE("another key convinces nobody") {
  const job_key key = job_key::random(), other = job_key::random();
  prover outsider(other);
  const challenger listens(key);
  CHECK_FALSE(listens.judge(*outsider.answer(listens.question())));
  prover connects(key);
  const challenger impostor(other);
  CHECK_FALSE(impostor.judge(*connects.answer(impostor.question())));
  CHECK_FALSE(connects.confirmed_by(other.sign({bytes_of("anything")})));
}

TEST_CASE("what was said once convinces nobody a second time") {
  const job_key key = job_key::random();
  prover connects(key);
  const challenger first(key), second(key);
  const proof p = *connects.answer(first.question());
  const digest confirmation = *first.judge(p);
  CHECK_FALSE(second.judge(p));
  prover again(key);
  REQUIRE(again.answer(first.question()));  // an impostor repeats the challenge, too
  CHECK_FALSE(again.confirmed_by(confirmation));
}

TEST_CASE("any changed bit of the handshake is noticed") {
  const job_key key = job_key::random();
  const challenger listens(key);
  prover connects(key);
  const proof p = *connects.answer(listens.question());
  const digest confirmation = *listens.judge(p);
  for (std::size_t bit = 0; bit < 8 * proof_size; ++bit) {
    proof changed = p;
    changed[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    CHECK_FALSE(listens.judge(changed));
  }
  for (std::size_t bit = 0; bit < 8 * sizeof(digest); ++bit) {
    digest changed = confirmation;
    changed[bit / 8] ^= static_cast<std::byte>(1u << bit % 8);
    CHECK_FALSE(connects.confirmed_by(changed));
  }
  // A proof cannot be sent back as a confirmation: the two directions sign different texts.
  digest own;
  std::copy(p.begin() + nonce_size, p.end(), own.begin());
  CHECK_FALSE(connects.confirmed_by(own));
  challenge other_version = listens.question();
  other_version[4] ^= std::byte{1};
  CHECK_FALSE(connects.answer(other_version));
}

TEST_CASE("an opening, byte by byte, and what is none") {
  CHECK(hex(encode_opening(approach::ask)) == "574546540b000000");
  CHECK(hex(encode_opening(approach::prove)) == "574546540b000100");
  CHECK(hex(encode_opening(approach::encrypt)) == "574546540b000200");
  CHECK(hex(encode_opening(approach::certify)) == "574546540b000300");
  CHECK(decode_opening(encode_opening(approach::encrypt)) == approach::encrypt);
  CHECK(decode_opening(encode_opening(approach::certify)) == approach::certify);
  CHECK(decode_opening(encode_opening(approach::ask)) == approach::ask);
  CHECK(decode_opening(encode_opening(approach::prove)) == approach::prove);
  opening o = encode_opening(approach::prove);
  CHECK_FALSE(decode_opening(std::span(o).first(7)));
  o[6] = std::byte{4};
  CHECK_FALSE(decode_opening(o));
  CHECK_FALSE(decode_opening(bytes_of("GET / HT")));
}

TEST_CASE("a locator, and what is none") {
  const std::string name = random_socket_name();
  const locator all{name, {{"10.0.0.1", 4711}, {"fe80::1", 1}}};
  CHECK(to_text(all) == name + ",10.0.0.1:4711,[fe80::1]:1");
  REQUIRE(parse_locator(to_text(all)));
  CHECK(parse_locator(to_text(all))->socket_name == name);
  CHECK(parse_locator(to_text(all))->places == all.places);
  CHECK(parse_locator(name)->places.empty());
  std::string many = name;
  for (std::size_t i = 0; i < max_places + 1; ++i) many += ",1.2.3.4:5";
  for (const std::string& bad :
       {std::string(), std::string("weft-1"), name + ",", name + ",host:1", name + ",1.2.3.4",
        name + ",1.2.3.4:0", name + ",1.2.3.4:65536", name + ",1.2.3.4:5x", name + ",::1:5",
        name + ",[1.2.3.4]:5", name + ",[::1]:5,", many, name + std::string(max_locator, ',')}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_locator(bad));
  }
}

}  // namespace weft::wireup::test
