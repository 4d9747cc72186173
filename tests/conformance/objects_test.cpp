// SPDX-License-Identifier: Apache-2.0
// Values that wire<T> writes, in one message and in pieces, over every transport and in every mode.
#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conversation.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;

namespace {

/// A type of an application, with faults on demand.
struct shelf {
  std::string name;
  std::vector<std::string> books;
  std::size_t put_fails_at = ~std::size_t{0};  ///< index of a book; not sent
  std::uint32_t surplus = 0;                   ///< bytes that `get` does not read

  friend bool operator==(const shelf& a, const shelf& b) {
    return a.name == b.name && a.books == b.books;
  }
};

/// The same bytes, of which more are read than there are.
struct greedy_shelf {
  shelf what;
};
/// The same bytes, of which only the beginning is wanted.
struct picky_shelf {
  shelf what;
};

/// About `size` bytes.
shelf shelf_of(std::size_t size) {
  shelf s{"shelf of " + std::to_string(size), {}};
  for (std::size_t i = 0, left = size; left != 0; ++i) {
    const std::size_t n = std::min(left, i % 7 == 0 ? std::size_t{30'000} : 100 * (i % 50));
    s.books.emplace_back(n, static_cast<char>('a' + i % 26));
    left -= n;
  }
  return s;
}

constexpr std::size_t value_piece = 256 * 1024;
constexpr std::array<std::size_t, 6> shelf_sizes{
    0, 100, value_piece / 2, value_piece, value_piece * 3, 5'000'001};

constexpr tag shelf_tag{1};
constexpr tag turn_tag{2};

}  // namespace

template <>
struct weft::wire<shelf> {
  static void put(sink& to, const shelf& s) {
    to << s.name << std::uint64_t{s.books.size()};
    for (std::size_t i = 0; i != s.books.size(); ++i) {
      if (i == s.put_fails_at) throw std::out_of_range("put of the application");
      to << s.books[i];
    }
    for (std::uint32_t i = 0; i != s.surplus; ++i) to << 'x';
  }
  static shelf get(source& from) {
    shelf s{from.get<std::string>(), {}};
    for (auto n = from.get<std::uint64_t>(); n != 0; --n)
      s.books.push_back(from.get<std::string>());
    return s;
  }
};
template <>
struct weft::wire<greedy_shelf> {
  static void put(sink& to, const greedy_shelf& s) { to << s.what; }
  static greedy_shelf get(source& from) {
    greedy_shelf s{from.get<shelf>()};
    std::array<std::byte, 1000> more;
    from.read(more);
    return s;
  }
};
template <>
struct weft::wire<picky_shelf> {
  static void put(sink& to, const picky_shelf& s) { to << s.what; }
  static picky_shelf get(source& from) {
    static_cast<void>(from.get<std::string>());
    throw std::domain_error("get of the application");
  }
};

namespace {

task<void> take_turn(endpoint other) {
  static_cast<void>(co_await other.recv_value<int>(turn_tag));
}

// --- all sizes ---------------------------------------------------------------------------------

task<void> send_shelves(context&, endpoint other) {
  for (const std::size_t size : shelf_sizes) {
    const shelf s = shelf_of(size);
    co_await other.send_value(shelf_tag, s);
    co_await other.send_value(shelf_tag, shelf_of(size));
    co_await take_turn(other);
    co_await other.send_value(shelf_tag, s);
  }
}
task<void> receive_shelves(context& here, endpoint other) {
  shelf existing;
  for (const std::size_t size : shelf_sizes) {
    const shelf wanted = shelf_of(size);
    const shelf first = co_await other.recv_value<shelf>(shelf_tag);
    const auto [second, about] = co_await here.recv_value_from<shelf>(any_tag);
    expect(first == wanted && second == wanted, "a value of about " + std::to_string(size));
    expect(about.source == other.id() && about.tag == shelf_tag && about.size >= size,
           "what the receive tells");
    scope fly;
    fly.start(other.recv_value(shelf_tag, existing));
    co_await other.send_value(turn_tag, 0);
    co_await fly.join();
    expect(existing == wanted, "into an existing object");
  }
}

/// The limits of a piece, to the byte.
constexpr std::array<std::size_t, 5> text_sizes{value_piece - 1, value_piece, value_piece + 1,
                                                2 * value_piece, 2 * value_piece + 1};

task<void> send_texts(context&, endpoint other) {
  for (const std::size_t size : text_sizes) {
    // A vector of one string takes two words for the lengths.
    const std::vector<std::string> one{std::string(size - 16, 't')};
    co_await other.send_value(shelf_tag, one);
  }
}
task<void> receive_texts(context&, endpoint other) {
  for (const std::size_t size : text_sizes) {
    const auto one = co_await other.recv_value_from<std::vector<std::string>>(shelf_tag);
    expect(one.about.size == size && one.value.size() == 1 && one.value[0].size() == size - 16,
           "a value of " + std::to_string(size) + " bytes");
  }
}

// --- several at once ---------------------------------------------------------------------------

task<void> exchange_shelves(context&, endpoint other) {
  std::vector<shelf> in(4);
  scope fly;
  for (shelf& s : in) fly.start(other.recv_value(shelf_tag, s));
  for (std::size_t i = 0; i != in.size(); ++i)
    fly.start(other.send_value(shelf_tag, shelf_of(i * 400'000)));
  co_await fly.join();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i != in.size(); ++i) {
    expect(in[i] == shelf_of(i * 400'000), "values under way at once keep apart");
    bytes += in[i].books.size();
  }
  expect(bytes != 0, "and they are not empty");
}

// --- failures ----------------------------------------------------------------------------------

constexpr std::array<std::size_t, 2> failing_sizes{1000, 1'000'000};

template <class X>
task<std::string> failure_of(X x) {
  try {
    co_await std::move(x);
  } catch (const std::exception& e) {
    co_return e.what();
  }
  co_return "";
}

bool tells_of(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

task<void> send_to_failing(context&, endpoint other) {
  for (const std::size_t size : failing_sizes) {
    const shelf s = shelf_of(size);
    co_await other.send_value(shelf_tag, s);
    co_await other.send_value(shelf_tag, s);
    shelf longer = s;
    longer.surplus = 10;
    co_await other.send_value(shelf_tag, longer);
    co_await other.send_value(shelf_tag, s);
    shelf broken = s;
    broken.put_fails_at = s.books.size() - 1;
    const std::string said = co_await failure_of(other.send_value(shelf_tag, broken));
    expect(said == "put of the application", "an exception of put comes back");
    co_await other.send_value(turn_tag, 0);
  }
}
task<void> fail_to_receive(context&, endpoint other) {
  for (const std::size_t size : failing_sizes) {
    const std::string greedy = co_await failure_of(other.recv_value<greedy_shelf>(shelf_tag));
    expect(tells_of(greedy, "1000 more were to be read"), "the number that is missing: " + greedy);
    const std::string picky = co_await failure_of(other.recv_value<picky_shelf>(shelf_tag));
    expect(picky == "get of the application", "an exception of get comes back");
    const std::string left = co_await failure_of(other.recv_value<shelf>(shelf_tag));
    expect(tells_of(left, "10 bytes are left over"), "the number that is left over: " + left);
    const std::string bounded =
        co_await failure_of(other.recv_value<shelf>(shelf_tag, at_most{size / 2}));
    expect(tells_of(bounded, "at_most"), "the bound holds: " + bounded);
    // A short value fails before anything leaves; a long one breaks off.
    if (size > value_piece) {
      shelf never;
      const std::string broken = co_await failure_of(other.recv_value(shelf_tag, never));
      expect(tells_of(broken, "broke off"), "the receiver of half a value learns of it: " + broken);
    }
    co_await take_turn(other);
  }
}

}  // namespace

CONFORMS("values of an application's types", send_shelves, receive_shelves)
CONFORMS("values that end at the limit of a piece", send_texts, receive_texts)
CONFORMS("long values both ways at once", exchange_shelves, exchange_shelves)
CONFORMS("values whose functions fail", send_to_failing, fail_to_receive)
