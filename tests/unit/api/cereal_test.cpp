// SPDX-License-Identifier: Apache-2.0
// Types that cereal serialises, as values.
#include "support/catch.hpp"
#include "support/skip.hpp"

#if __has_include(<cereal/cereal.hpp>)

#include <cereal/types/map.hpp>
#include <cereal/types/memory.hpp>
#include <cereal/types/string.hpp>
#include <cereal/types/vector.hpp>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/interop/cereal.hpp>
#include <weft/weft.hpp>

namespace {

struct entry_of_index {
  std::string name;
  std::map<std::string, std::vector<int>> places;
  std::unique_ptr<entry_of_index> next;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(name, places, next);
  }
};

/// An object that has it already is no business of cereal.
struct wired_by_hand {
  std::string text;
  template <class Archive>
  void serialize(Archive&) {
    FAIL("cereal was called");
  }
};

entry_of_index index_of(std::size_t entries) {
  entry_of_index all{"head", {}, nullptr};
  for (std::size_t i = 0; i != entries; ++i)
    all.places["place " + std::to_string(i)] = std::vector<int>(i % 100, static_cast<int>(i));
  all.next = std::make_unique<entry_of_index>();
  all.next->name = "tail";
  return all;
}

constexpr weft::tag index_tag{4};

weft::task<void> index_there_and_back(weft::endpoint self, std::size_t entries) {
  weft::scope fly;
  entry_of_index in;
  const entry_of_index out = index_of(entries);
  fly.start(self.send_value(index_tag, out));
  fly.start(self.recv_value(index_tag, in));
  co_await fly.join();
  CHECK(in.name == out.name);
  CHECK((in.places == out.places));
  REQUIRE(in.next);
  CHECK(in.next->name == "tail");
}

}  // namespace

template <>
struct weft::wire<wired_by_hand> {
  static void put(sink& to, const wired_by_hand& v) { to << v.text; }
  static wired_by_hand get(source& from) { return {from.get<std::string>()}; }
};

static_assert(weft::detail::kind_of<int> == weft::detail::value_kind::bytes);
static_assert(weft::detail::kind_of<std::vector<int>> == weft::detail::value_kind::elements);
static_assert(weft::detail::kind_of<std::string> == weft::detail::value_kind::elements);
static_assert(!weft::detail::has_wire<std::vector<std::string>>, "weft writes it by itself");

TEST_CASE("cereal: a short and a long value") {
  weft::context ctx;
  const std::size_t entries = GENERATE(std::size_t{3}, std::size_t{20'000});
  weft::run(ctx, index_there_and_back(ctx.world()[0], entries));
}

TEST_CASE("cereal: a wire of the application comes first") {
  weft::context ctx;
  weft::run(ctx, [](weft::endpoint self) -> weft::task<void> {
    wired_by_hand out{"by hand"};
    co_await self.send_value(index_tag, std::move(out));
    const auto in = co_await self.recv_value<wired_by_hand>(index_tag);
    CHECK(in.text == "by hand");
  }(ctx.world()[0]));
}

TEST_CASE("cereal: bytes that are no value of the type") {
  weft::context ctx;
  weft::run(ctx, [](weft::endpoint self) -> weft::task<void> {
    co_await self.send_value(index_tag, 1);
    const auto in = co_await weft::as_result(self.recv_value<entry_of_index>(index_tag));
    CHECK(in.code() == weft::errc::protocol_error);
  }(ctx.world()[0]));
}

#else

TEST_CASE("cereal: values") { weft::tests::skip("cereal is not installed"); }

#endif
