// SPDX-License-Identifier: Apache-2.0
// Long values between their place at the sender and their place at the receiver: which bytes are
// sent from where they lie, and which come to where they stay, whatever a peer says.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include <weft/detail/announced_memory.hpp>
#include <weft/detail/call_codec.hpp>

#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/pattern.hpp"

namespace landing_test {
namespace {

using weft::const_buffer;
using weft::mutable_buffer;
using weft::detail::call_bytes;
using weft::detail::element_memory;
using weft::detail::pack_owned;
using weft::detail::pack_values;
using weft::detail::row_limits;
using weft::detail::value_landing;
using weft::tests::bytes;

constexpr row_limits usual = weft::detail::rows_of_replies;

bytes joined(const call_bytes& packed) {
  call_bytes::pieces list;
  const auto whole = packed.list(list);  // a list refers to `list`
  bytes all;
  for (const const_buffer part : whole.parts()) all.insert(all.end(), part.begin(), part.end());
  CHECK(all.size() == packed.size());
  return all;
}

std::size_t pieces_of(const call_bytes& packed) {
  call_bytes::pieces list;
  return packed.list(list).parts().size();
}

/// As a message does, in pieces of any sizes.
template <class... T>
void fill(const value_landing<T...>& landing, const_buffer all) {
  const auto room = landing.room();
  REQUIRE(room.size() == all.size());
  for (const mutable_buffer part : room.parts()) {
    std::copy_n(all.begin(), part.size(), part.begin());
    all = all.subspan(part.size());
  }
}

template <class... T>
std::tuple<T...> landed(const_buffer all, std::size_t known) {
  value_landing<T...> landing;
  landing.make_room(all.size(), all.first(known), usual, static_cast<T*>(nullptr)...);
  fill(landing, all);
  return landing.take();
}

struct stock {
  std::uint64_t number = 0;
  std::string name;
  std::optional<std::vector<double>> prices;
  std::variant<int, std::string> note;
  std::vector<std::vector<int>> lists;
  bool operator==(const stock&) const = default;
};

stock a_stock() {
  return {7, "nuts", std::vector<double>(30'000, 1.5), std::string("soon"), {{1, 2}, {}}};
}

constexpr std::array<std::size_t, 12> known_sizes{0, 1, 7, 8, 15, 16, 17, 24, 33, 64, 500, 4096};

}  // namespace

TEST_CASE("landing: what is read is what was sent, however much is known of it") {
  const stock all = a_stock();
  const std::map<int, std::string> named{{1, std::string(40'000, 'a')}, {2, "b"}};
  const bytes one = joined(pack_values(all, 5)), two = joined(pack_values(named, all, 5));
  for (const std::size_t known : known_sizes) {
    CAPTURE(known);
    const auto [got, five] = landed<stock, int>(one, known);
    CHECK(got == all);
    CHECK(five == 5);
    const auto [names, again, last] = landed<std::map<int, std::string>, stock, int>(two, known);
    CHECK(names == named);
    CHECK(again == all);
    CHECK(last == 5);
  }
}

TEST_CASE("landing: the bytes of a call are the same, sent from one place or from several") {
  stock all = a_stock();
  const std::string text(50'000, 't');
  const bytes expected = joined(pack_owned(3, all, text));
  CHECK((joined(pack_values(3, all, text)) == expected));
  CHECK(pieces_of(pack_values(3, all, text)) == 3);
  CHECK(pieces_of(pack_values(3, std::as_const(text))) == 2);
  CHECK(pieces_of(pack_values(3, std::string("short"))) == 1);
  stock moved = all;
  const double* const prices = moved.prices->data();
  const call_bytes kept = pack_values(3, std::move(moved), text);
  CHECK((joined(kept) == expected));
  call_bytes::pieces list;
  const auto whole = kept.list(list);
  CHECK(static_cast<const void*>(whole.parts()[1].data()) == prices);  // moved, not copied
  // Alone, without a number in front.
  CHECK((joined(pack_values(text)) == joined(pack_owned(text))));
  CHECK(pack_values(text).bytes().data() == std::as_bytes(std::span(text)).data());
  std::string own(50'000, 'o');
  const void* const at = own.data();
  CHECK(static_cast<const void*>(pack_values(std::move(own)).bytes().data()) == at);
}

TEST_CASE("landing: elements of a view are sent from where they lie, temporaries are owned") {
  const std::vector<int> numbers(10'000, 3);
  call_bytes::pieces list;
  const call_bytes view = pack_values(1, std::span(numbers));
  CHECK(view.list(list).parts()[1].data() == std::as_bytes(std::span(numbers)).data());
  const auto copy_of_const = [](const std::vector<int>&& n) {
    return pack_values(1, std::move(n));
  };
  const call_bytes copied = copy_of_const(std::vector<int>(10'000, 4));
  CHECK(pieces_of(copied) == 1);  // what cannot be moved is copied
  CHECK(std::get<1>(landed<int, std::vector<int>>(joined(copied), 0)) ==
        std::vector<int>(10'000, 4));
}

TEST_CASE("landing: a long row goes to where it stays, also into memory that is there") {
  const std::vector<std::uint32_t> row(20'000, 9);
  const bytes all = joined(pack_values(1, row, 2));
  value_landing<int, std::vector<std::uint32_t>, int> landing;
  landing.make_room(all.size(), const_buffer(all).first(100), usual, nullptr, nullptr, nullptr);
  fill(landing, all);
  REQUIRE(landing.room().parts().size() == 3);
  const void* const place = landing.room().parts()[1].data();
  const auto got = landing.take();
  CHECK(static_cast<const void*>(std::get<1>(got).data()) == place);

  int before = 0, behind = 0;
  std::vector<std::uint32_t> mine(30'000);
  const void* const memory = mine.data();
  value_landing<int, std::vector<std::uint32_t>, int> into;
  into.make_room(all.size(), const_buffer(all).first(100), usual, &before, &mine, &behind);
  CHECK(static_cast<const void*>(into.room().parts()[1].data()) == memory);
  fill(into, all);
  into.take_into(before, mine, behind);
  CHECK(mine == row);
  CHECK(before + behind == 3);
  CHECK(static_cast<const void*>(mine.data()) == memory);
}

TEST_CASE("landing: a number that lies about its elements is refused, and costs no memory") {
  using row = std::vector<double>;
  for (const std::uint64_t lie :
       {std::uint64_t{1} << 61, (std::uint64_t{1} << 61) + 1, ~std::uint64_t{0},
        std::uint64_t{10'000}, std::uint64_t{9'999}, std::uint64_t{0}}) {
    CAPTURE(lie);
    bytes all(8 + 8 * 9'998);  // 9998 elements
    std::memcpy(all.data(), &lie, sizeof lie);
    value_landing<row, int> landing;
    const weft::tests::no_memory after(8);
    if (lie > 9'998) {
      CHECK_NOTHROW(
          landing.make_room(all.size(), const_buffer(all).first(64), usual, nullptr, nullptr));
      CHECK(landing.room().single());
    }
  }
  for (const std::uint64_t lie : {std::uint64_t{1} << 61, ~std::uint64_t{0}, std::uint64_t{9'999},
                                  std::uint64_t{9'998}, std::uint64_t{0}}) {
    CAPTURE(lie);
    bytes all(8 + 8 * 9'998);
    std::memcpy(all.data(), &lie, sizeof lie);
    // The last one leaves bytes over, the one before lacks its int.
    CHECK_THROWS_AS((landed<row, int>(all, 64)), weft::error);
    CHECK_THROWS_AS((landed<row, int>(all, 0)), weft::error);
    CHECK_THROWS_AS((landed<std::vector<row>, int>(all, 64)), weft::error);
  }
}

TEST_CASE("landing: every changed byte of a head, and every total, is refused or read") {
  const bytes whole = joined(pack_values(a_stock(), 5));
  std::size_t refused = 0;
  const auto attempt = [&refused](const_buffer all, std::size_t known) {
    try {
      static_cast<void>(landed<stock, int>(all, known));
    } catch (const weft::error& e) {
      CHECK(e.kind() == weft::errc::refused);
      ++refused;
    }
  };
  for (std::size_t at = 0; at != 40; ++at)
    for (const unsigned change : {1u, 0x80u, 0xffu}) {
      bytes lie = whole;
      lie[at] ^= static_cast<std::byte>(change);
      attempt(lie, 64);
    }
  CHECK(refused > 40);
  for (std::size_t n = 0; n < whole.size(); n += n < 100 ? 1 : 997) {
    const std::size_t before = refused;
    attempt(const_buffer(whole).first(n), std::min<std::size_t>(n, 64));
    CHECK(refused == before + 1);
  }
}

TEST_CASE("landing: bytes that change while they come are refused") {
  using either = std::variant<std::vector<int>, std::vector<float>>;
  const bytes all = joined(pack_values(either(std::vector<int>(10'000, 1)), 5));
  const auto come = [&all](std::size_t at, std::uint8_t as) {
    value_landing<either, int> landing;
    landing.make_room(all.size(), const_buffer(all).first(64), usual, nullptr, nullptr);
    bytes later = all;
    later[at] = std::byte{as};
    fill(landing, later);
    return landing.take();
  };
  CHECK_NOTHROW(come(0, 0));
  CHECK_THROWS_AS(come(0, 1), weft::error);  // another type
  CHECK_THROWS_AS(come(1, 0), weft::error);  // another number
  CHECK_THROWS_AS(come(0, 9), weft::error);  // no alternative
}

TEST_CASE(
    "landing: what is only announced fills a vector up to a limit, and a span's memory never") {
  std::uint64_t head[2] = {1, std::uint64_t{20} << 20};
  const auto known = std::as_bytes(std::span(head));
  const std::size_t total = sizeof head + (std::size_t{20} << 20);
  const row_limits small{1 << 14, 1 << 20};
  value_landing<std::uint64_t, std::string> text;
  text.make_room(total, known, small, nullptr, nullptr);
  CHECK(text.room().single());
  value_landing<std::uint64_t, element_memory<char>> view;
  view.make_room(total, known, small, nullptr, nullptr);
  CHECK(view.room().parts().size() == 2);
}

TEST_CASE("landing: the callers of a handler share what is filled before it comes") {
  using weft::detail::announced_memory;
  announced_memory of_handler;
  {
    const announced_memory::share some(of_handler, std::size_t{40} << 20);
    CHECK(some.bytes() == std::size_t{40} << 20);
    const announced_memory::share too_much(of_handler, std::size_t{25} << 20);
    CHECK(too_much.bytes() == 0);
    const announced_memory::share rest(of_handler, std::size_t{24} << 20);
    CHECK(rest.bytes() != 0);
    CHECK(announced_memory::share(of_handler, 1).bytes() == 0);
    CHECK(announced_memory::share(of_handler, ~std::size_t{0}).bytes() == 0);
  }
  CHECK(announced_memory::share(of_handler, announced_memory::most).bytes() != 0);
}

TEST_CASE("landing: elements alone, with and without memory, and with a rest") {
  const std::vector<int> row(10'000, 6);
  const bytes all = joined(pack_values(row));
  CHECK(std::get<0>(landed<std::vector<int>>(all, 0)) == row);
  CHECK(std::get<0>(landed<std::vector<int>>({}, 0)).empty());
  bytes longer = all;
  longer.push_back(std::byte{1});
  CHECK_THROWS_AS(landed<std::vector<int>>(longer, 0), weft::error);
  const auto view = landed<element_memory<int>>(all, 8);
  const auto& elements = std::get<0>(view);
  CHECK(std::equal(row.begin(), row.end(), elements.data(), elements.data() + elements.size()));
}

}  // namespace landing_test
