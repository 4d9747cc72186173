// SPDX-License-Identifier: Apache-2.0
// Calls with long arguments and results, over every transport and in every mode: into memory of the
// caller's choice, of the handler's, and as rows among other values.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "both_ends.hpp"
#include "one_thread.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;

namespace {

using byte_row = std::vector<std::byte>;  // that of the tests is a class of its own, and no row

struct entry {
  std::uint64_t key = 0;
  std::optional<std::string> name;
  std::vector<std::uint32_t> numbers;
  std::string text;
  bool operator==(const entry&) const = default;
};

entry entry_of(std::size_t n) {
  entry e{n, "a name", std::vector<std::uint32_t>(n), std::string(n / 3, 't')};
  for (std::size_t i = 0; i != n; ++i) e.numbers[i] = static_cast<std::uint32_t>(i * 7 + n);
  return e;
}

std::uint64_t sum_of(std::span<const std::byte> all) {
  return std::hash<std::string_view>()({reinterpret_cast<const char*>(all.data()), all.size()});
}

constexpr std::array<std::size_t, 5> long_sizes{0, 100, 16'384, 70'001, 300'000};

// --- arguments ---------------------------------------------------------------------------------

template <bool Left>
task<void> arguments(context& here, endpoint other) {
  const std::uint32_t mine = numbers_of(Left), its = numbers_of(!Left);
  using view = std::span<const std::byte>;
  const handler behind_a_key = here.on<std::uint64_t(std::string_view, view)>(
      am{mine}, [](std::string_view key, view all) { return key.size() + sum_of(all); });
  const handler before_a_key = here.on<std::uint64_t(const byte_row&, const std::string&)>(
      am{mine + 1},
      [](const byte_row& all, const std::string& key) { return key.size() + sum_of(all); });
  const handler alone =
      here.on<std::uint64_t(byte_row)>(am{mine + 2}, [](byte_row all) { return sum_of(all); });
  const handler of_two = here.on<std::uint64_t(byte_row, byte_row)>(
      am{mine + 3}, [](byte_row a, byte_row b) { return sum_of(a) + sum_of(b); });
  const handler turned = here.on<entry(entry)>(am{mine + 4}, [](entry e) -> task<entry> {
    e.text += "!";
    co_return e;
  });
  std::vector<entry> posted;
  const handler note =
      here.on<void(entry)>(am{mine + 5}, [&posted](entry e) { posted.push_back(std::move(e)); });
  co_await meet<Left>(other, ready);
  for (const std::size_t n : long_sizes) {
    const byte_row blob = pattern(n, n);
    const std::uint64_t sum = sum_of(blob);
    const auto what = "arguments of " + std::to_string(n) + " bytes";
    const std::string key = "key";
    std::uint64_t got = co_await other.call<std::uint64_t>(am{its}, key, std::span(blob));
    expect(got == sum + 3, what);
    got = co_await other.call<std::uint64_t>(am{its}, std::string_view(key), blob);
    expect(got == sum + 3, what);
    got = co_await other.call<std::uint64_t>(am{its + 1}, blob, key);
    expect(got == sum + 3, what);
    got = co_await other.call<std::uint64_t>(am{its + 2}, blob);
    expect(got == sum, what);
    byte_row moved = blob;
    got = co_await other.call<std::uint64_t>(am{its + 2}, std::move(moved));
    expect(got == sum, what);
    moved = blob;
    {
      scope later;  // nothing of the caller's is needed
      auto request = other.call<std::uint64_t>(am{its + 1}, std::move(moved), std::string("k"));
      moved = byte_row(n);
      later.start(std::move(request));
      co_await later.join();
    }
    got = co_await other.call<std::uint64_t>(am{its + 3}, blob, blob);
    expect(got == 2 * sum, what);
    const entry sent = entry_of(n);
    entry back = co_await other.call<entry>(am{its + 4}, sent);
    expect(back.text == sent.text + "!", "an aggregate there and back");
    back.text.pop_back();
    expect(back == sent, "an aggregate there and back");
    co_await other.post(am{its + 5}, sent);
  }
  co_await meet<Left>(other, over);
  while (posted.size() != long_sizes.size()) co_await sleep_for(std::chrono::microseconds(100));
  for (std::size_t i = 0; i != long_sizes.size(); ++i)
    expect(posted[i] == entry_of(long_sizes[i]), "posts come whole, and in order");
}

// --- results -----------------------------------------------------------------------------------

template <bool Left>
task<void> results(context& here, endpoint other) {
  const std::uint32_t mine = numbers_of(Left), its = numbers_of(!Left);
  using row = std::vector<std::uint32_t>;
  const handler whole =
      here.on<row(std::size_t)>(am{mine}, [](std::size_t n) { return entry_of(n).numbers; });
  const handler parts =
      here.on<entry(std::size_t)>(am{mine + 1}, [](std::size_t n) { return entry_of(n); });
  const handler pair = here.on<std::tuple<std::string, row>(std::size_t)>(
      am{mine + 2},
      [](std::size_t n) { return std::tuple(std::string("n"), entry_of(n).numbers); });
  co_await meet<Left>(other, ready);
  row kept(400'000);
  const void* const memory = kept.data();
  entry into;
  for (const std::size_t n : long_sizes) {
    const auto what = "results of " + std::to_string(n) + " numbers";
    const entry wanted = entry_of(n);
    const row made = co_await other.call<row>(am{its}, n);
    expect(made == wanted.numbers, what);
    co_await other.call_into(kept, am{its}, n);
    expect(kept == wanted.numbers, what);
    expect(kept.data() == memory, "a vector keeps its memory");
    const entry got = co_await other.call<entry>(am{its + 1}, n);
    expect(got == wanted, what);
    co_await other.call_into(into, am{its + 1}, n);
    expect(into == wanted, what);
    const auto both = co_await other.call<std::tuple<std::string, row>>(am{its + 2}, n);
    expect(std::get<1>(both) == wanted.numbers, what);
    std::vector<std::uint32_t> exact(n);
    const std::span<std::uint32_t> there(exact);
    co_await other.call_into(there, am{its}, n);
    expect(exact == wanted.numbers, what);
    const std::span<std::uint32_t> shorter = there.first(n / 2);
    const auto no_fit = co_await as_result(other.call_into(shorter, am{its}, n));
    expect(n == 0 ? no_fit.has_value() : no_fit.code() == errc::refused, "a span of another size");
  }
  into.numbers.reserve(300'000);
  const void* const place = into.numbers.data();
  co_await other.call_into(into, am{its + 1}, std::size_t{250'000});
  expect(into == entry_of(250'000), "into an aggregate with memory");
  expect(into.numbers.data() == place, "an aggregate's vector keeps its memory");
  co_await meet<Left>(other, over);
}

// --- memory that is kept -----------------------------------------------------------------------

/// Long arguments come into the memory of those before them.
template <bool Left>
task<void> kept(context& here, endpoint other) {
  const std::uint32_t mine = numbers_of(Left), its = numbers_of(!Left);
  std::vector<const void*> places;
  const auto note = [&places](const auto& row) {
    places.push_back(row.data());
    return sum_of(std::as_bytes(std::span(row.data(), row.size())));
  };
  const handler vectors = here.on<std::uint64_t(std::string, const byte_row&)>(
      am{mine}, [&](const std::string&, const byte_row& all) { return note(all); },
      {.keeps_memory = true});
  const handler views = here.on<std::uint64_t(int, std::string_view)>(
      am{mine + 1}, [&](int, std::string_view all) { return note(all); }, {.keeps_memory = true});
  const handler taken = here.on<std::uint64_t(int, byte_row)>(
      am{mine + 2}, [](int, byte_row all) { return sum_of(all); }, {.keeps_memory = true});
  co_await meet<Left>(other, ready);
  const byte_row large = pattern(900'000), less = pattern(800'000);
  for (const byte_row* each : {&large, &less, &large}) {
    std::uint64_t got = co_await other.call<std::uint64_t>(am{its}, std::string("k"), *each);
    expect(got == sum_of(*each), "a vector in memory that is kept");
    got = co_await other.call<std::uint64_t>(am{its}, std::string("k"), byte_row(10));
    expect(got == sum_of(byte_row(10)), "a short one between");
    got = co_await other.call<std::uint64_t>(am{its + 2}, 1, *each);
    expect(got == sum_of(*each), "a vector that the handler takes");
    const std::string_view text(reinterpret_cast<const char*>(each->data()), each->size());
    got = co_await other.call<std::uint64_t>(am{its + 1}, 1, text);
    expect(got == sum_of(*each), "a view in memory that is kept");
  }
  co_await meet<Left>(other, over);
  std::vector<const void*> all(places);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  expect(all.size() <= places.size() - 4, "memory is used again");
}

// --- placement ---------------------------------------------------------------------------------

/// A handler that sees the header and the size, and says where the rest goes.
template <bool Left>
task<void> placed(context& here, endpoint other) {
  const std::uint32_t mine = numbers_of(Left), its = numbers_of(!Left);
  std::array<byte_row, 2> shelves;
  std::size_t seen = 0;
  const handler places = here.on(am{mine}, [&](call c) -> task<void> {
    std::uint32_t header[2] = {};
    if (c.beginning().size() >= sizeof header) {
      std::memcpy(header, c.beginning().data(), sizeof header);
      ++seen;
    }
    byte_row& shelf = shelves[header[0] % 2];
    shelf.resize(c.size() - sizeof header);
    const std::array<mutable_buffer, 2> list{std::as_writable_bytes(std::span(header)), shelf};
    co_await c.recv(list);
    co_await c.reply(std::as_bytes(std::span(&header[1], 1)));
  });
  co_await meet<Left>(other, ready);
  std::size_t calls = 0;
  for (const std::size_t n : long_sizes) {
    const std::uint32_t header[2] = {1, static_cast<std::uint32_t>(n)};
    byte_row whole(sizeof header + n);
    std::memcpy(whole.data(), header, sizeof header);
    const byte_row body = pattern(n, n);
    std::copy(body.begin(), body.end(), whole.begin() + sizeof header);
    std::uint32_t answer = 0;
    const std::size_t size =
        co_await other.call(am{its}, whole, std::as_writable_bytes(std::span(&answer, 1)));
    expect(size == sizeof answer && answer == n, "an answer of the header");
    ++calls;
  }
  co_await meet<Left>(other, over);
  expect(calls == long_sizes.size(), "all calls");
  expect(seen != 0, "headers of short calls are there at once");
}

}  // namespace

CONFORMS("long calls: arguments of all sizes", arguments<true>, arguments<false>)
CONFORMS("long calls: results, also into memory of the caller's", results<true>, results<false>)
CONFORMS("long calls: arguments in memory that is kept", kept<true>, kept<false>)
CONFORMS("long calls: a handler says where the rest goes", placed<true>, placed<false>)
