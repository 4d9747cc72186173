// SPDX-License-Identifier: Apache-2.0
// The one codec: what is written is read again, names of types tell layouts apart, and bytes of a
// liar are refused.
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <weft/detail/call_signature.hpp>

#include "support/catch.hpp"

using namespace weft::detail;
using weft::const_buffer;

namespace {

struct point {
  double x, y;
  friend bool operator==(const point&, const point&) = default;
};
struct order {
  std::uint64_t number = 0;
  std::string customer;
  std::vector<std::pair<std::string, int>> items;
  std::optional<point> where;
  std::variant<int, std::string> note;
  std::array<std::string, 2> lines;
  int codes[2][2] = {};
  friend bool operator==(const order&, const order&) = default;
};
struct padded {
  std::uint8_t a;
  std::uint32_t b;
};
struct with_pointer {
  const char* text;
  int n;
};
struct with_view {
  std::string_view text;
};
struct with_union {
  int kind;
  union {
    int i;
    double d;
  };
};
struct derived : point {
  int z;
};
struct bits {
  int low : 3, high : 4;
};
struct seventeen {
  int a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q;
};
struct celsius {
  double degrees = 0;
};

}  // namespace

template <>
struct weft::wire<celsius> {
  static constexpr std::string_view name = "celsius";
  static void put(sink& to, const celsius& c) { to << c.degrees; }
  static celsius get(source& from) { return {from.get<double>()}; }
};

namespace {

static_assert(member_count<point> == 2 && member_count<order> == 7 && member_count<bits> == 2);
static_assert(member_count<with_union> == 0 && member_count<derived> == 0);
static_assert(member_count<seventeen> == 0 && member_count<std::string> == 0);

static_assert(kind_of<point> == value_kind::bytes && kind_of<order> == value_kind::object);
static_assert(kind_of<bits> == value_kind::bytes && kind_of<with_union> == value_kind::bytes);
static_assert(kind_of<derived> == value_kind::bytes && kind_of<seventeen> == value_kind::bytes);
static_assert(kind_of<with_pointer> == value_kind::none);
static_assert(kind_of<with_view> == value_kind::object);  // its characters, not its pointer
static_assert(kind_of<std::unique_ptr<int>> == value_kind::none);
static_assert(kind_of<std::vector<int*>> == value_kind::none);
static_assert(kind_of<std::vector<celsius>> == value_kind::object);

template <class T>
std::string name_of_type() {
  type_name n;
  add_name<T>(n);
  return std::string(n.text());
}

template <class T>
T there_and_back(const T& value) {
  const call_bytes packed = pack_values(value, 7);
  auto [got, seven] = unpack_values<T, int>(packed.bytes());
  CHECK(seven == 7);
  return got;
}

order an_order() {
  return {41,        "Ada",           {{"nut", 3}, {"bolt", 4}}, point{1, 2}, std::string("soon"),
          {"a", ""}, {{1, 2}, {3, 4}}};
}

}  // namespace

TEST_CASE("values: what is written is read again") {
  const order all = an_order();
  CHECK(there_and_back(all) == all);
  CHECK(there_and_back(order{}) == order{});
  const std::map<std::string, std::vector<int>> lists{{"one", {1}}, {"none", {}}};
  CHECK(there_and_back(lists) == lists);
  const std::unordered_map<int, order> orders{{1, all}, {2, order{}}};
  CHECK(there_and_back(orders) == orders);
  const std::set<int> set{3, 1, 2};
  CHECK(there_and_back(set) == set);
  const std::vector<bool> flags{true, false, true};
  CHECK(there_and_back(flags) == flags);
  const std::deque<std::optional<int>> gaps{1, std::nullopt, 3};
  CHECK(there_and_back(gaps) == gaps);
  const std::tuple<int, std::string, celsius> mixed{1, "two", {3}};
  CHECK(std::get<2>(there_and_back(mixed)).degrees == 3);
}

TEST_CASE("values: containers of one kind have the same bytes, also one behind the other") {
  const std::vector<int> row{1, 2, 3};
  const std::set<int> set{1, 2, 3};
  const call_bytes a = pack_values(row, 0), b = pack_values(set, 0);
  REQUIRE(a.bytes().size() == b.bytes().size());
  CHECK(std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin()));
  CHECK(pack_values(row).bytes().size() == 12);  // alone: its elements
}

TEST_CASE("values: the names of types tell layouts apart, and nothing else") {
  CHECK(name_of_type<order>() ==
        "(u64,[char],[([char],i32)],{f64,f64}?,<i32|[char]>,[[char];2],"
        "[[i32;2];2])");
  CHECK(name_of_type<std::vector<long>>() == name_of_type<std::span<const long long>>());
  CHECK(name_of_type<std::string>() == name_of_type<std::string_view>());
  CHECK(name_of_type<padded>() == "{u8,u32}");
  CHECK(name_of_type<std::tuple<std::uint8_t, std::uint32_t>>() == "(u8,u32)");  // not padded
  CHECK(name_of_type<std::map<int, float>>() == "[{i32,f32}]");
  CHECK(name_of_type<with_union>() == "raw(16)");
  CHECK(name_of_type<celsius>() == "own(celsius)");
  constexpr const call_signature& s = signature_of_call<void, std::string, const int&>;
  CHECK(s.arguments.text() == "([char],i32)");
  CHECK(s.whole.text() == "([char],i32) -> ()");
  CHECK(signature_of_call<int, std::vector<int>>.arguments.text() == "[i32]");
  CHECK(signature_of_call<int, std::set<int>>.arguments.text() == "([i32])");
  CHECK(signature_of_call<int, int>.whole.fingerprint() !=
        signature_of_call<int, unsigned>.whole.fingerprint());
}

TEST_CASE("values: every beginning of the bytes, and every changed byte, is refused or read") {
  const call_bytes packed = pack_values(an_order(), 7);
  const std::vector<std::byte> whole(packed.bytes().begin(), packed.bytes().end());
  for (std::size_t n = 0; n != whole.size(); ++n)
    CHECK_THROWS_AS((unpack_values<order, int>(const_buffer(whole).first(n))), weft::error);
  std::size_t refused = 0;
  for (std::size_t at = 0; at != whole.size(); ++at)
    for (const unsigned change : {1u, 0x80u, 0xffu}) {
      std::vector<std::byte> lie = whole;
      lie[at] ^= static_cast<std::byte>(change);
      try {
        static_cast<void>(unpack_values<order, int>(lie));
      } catch (const weft::error& e) {
        CHECK(e.kind() == weft::errc::refused);
        ++refused;
      }
    }
  CHECK(refused > whole.size());
}

TEST_CASE("values: a number of elements without their bytes costs no memory") {
  const std::uint64_t many = std::uint64_t{1} << 40;
  CHECK_THROWS_AS((unpack_values<std::vector<double>, int>(std::as_bytes(std::span(&many, 1)))),
                  weft::error);
  CHECK_THROWS_AS(
      (unpack_values<std::vector<std::string>, int>(std::as_bytes(std::span(&many, 1)))),
      weft::error);
}
