// SPDX-License-Identifier: Apache-2.0
#include "net/tls_agreement.hpp"

#include "net/tls/settings.hpp"
#include "support/catch.hpp"

using namespace weft::net::tls;
using weft::tcp_encryption;
using weft::tests::contains;

TEST_CASE("tls: each side has a stance, by its setting and by where the other one is") {
  CHECK(stance_of(tcp_encryption::no, true) == stance::no);
  CHECK(stance_of(tcp_encryption::no, false) == stance::no);
  CHECK(stance_of(tcp_encryption::yes, true) == stance::yes);
  CHECK(stance_of(tcp_encryption::automatic, true) == stance::here);
  CHECK(stance_of(tcp_encryption::automatic, false) ==
        (is_built_in() ? stance::wanted : stance::cannot));
}

TEST_CASE("tls: two stances agree, or both are named") {
  const stance all[] = {stance::no, stance::here, stance::wanted, stance::yes, stance::cannot};
  static_assert(std::size(all) == stances);
  for (const stance a : all)
    for (const stance b : all) {
      CHECK(disagree(a, b) == disagree(b, a));
      CHECK(encrypt(a, b) == encrypt(b, a));
      const std::string why = text_of_disagreement(a, b);
      CHECK_THAT(why, contains(text_of(a)) && contains(text_of(b)));
    }
  for (const stance none : {stance::no, stance::cannot}) {
    CHECK(disagree(none, stance::wanted));
    CHECK(disagree(none, stance::yes));
    CHECK_FALSE(disagree(none, stance::here));
    CHECK_FALSE(encrypt(none, stance::here));
  }
  CHECK(encrypt(stance::here, stance::wanted));
  CHECK(encrypt(stance::here, stance::yes));
  CHECK_FALSE(encrypt(stance::here, stance::here));
  CHECK_THAT(text_of_disagreement(stance::cannot, stance::wanted), contains("libssl-dev"));
}
