// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include <weft/error.hpp>

#include "support/catch.hpp"

using namespace weft;

TEST_CASE("every error has a sentence of its own") {
  std::set<std::string> sentences, names;
  for (int value = 0; value <= static_cast<int>(errc::system); ++value) {
    const std::string text = make_error_code(static_cast<errc>(value)).message();
    INFO(text);
    CHECK(text.back() == '.');
    CHECK(text.find(' ') != std::string::npos);
    const std::string name = name_of(static_cast<errc>(value));
    CHECK(name.find(' ') == std::string::npos);
    CHECK(names.insert(name).second);
    sentences.insert(text);
  }
  CHECK(sentences.size() == static_cast<std::size_t>(errc::system) + 1);
  CHECK(sentences.count(make_error_code(static_cast<errc>(1000)).message()) == 0);
}

TEST_CASE("an error_code of weft is false only for ok and equals the standard's words") {
  CHECK_FALSE(make_error_code(errc::ok));
  CHECK(make_error_code(errc::stopped));
  CHECK(make_error_code(errc::timed_out) == std::errc::timed_out);
  CHECK(make_error_code(errc::stopped) == std::errc::operation_canceled);
  CHECK(make_error_code(errc::peer_lost) != std::errc::timed_out);
  CHECK(std::string(make_error_code(errc::closed).category().name()) == "weft");
}

TEST_CASE("an error tells its detail and its kind") {
  const error e(errc::refused, "rank 3 said no");
  CHECK(e.kind() == errc::refused);
  CHECK(std::string(e.what()) == "rank 3 said no");
  CHECK(name_of(e.kind()) == std::string("refused"));
  CHECK_FALSE(is_loss(e.kind()));
  CHECK(is_loss(errc::peer_lost));
  CHECK(std::string(error(errc::refused).what()).find("rejected") != std::string::npos);
}

TEST_CASE("a result has a value or throws its error") {
  result<int> good(7);
  CHECK(good);
  CHECK(good.value() == 7);
  CHECK(good.code() == errc::ok);

  result<int> bad{error(errc::closed)};
  CHECK_FALSE(bad);
  CHECK(bad.code() == errc::closed);
  CHECK_THROWS_AS(bad.value(), error);

  result<void> nothing;
  CHECK(nothing);
  CHECK_NOTHROW(nothing.value());
}
