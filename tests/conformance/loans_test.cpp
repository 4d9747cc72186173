// SPDX-License-Identifier: Apache-2.0
// Loans, over every transport and in every mode.
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <thread>
#include <utility>
#include <vector>

#include "conversation.hpp"
#include "support/catch.hpp"

using namespace conformance;
using namespace weft;

namespace {

constexpr tag lent_tag{1};
constexpr tag lent_ready{2};
constexpr tag lent_end{3};

/// Elements below and above all limits of transports.
constexpr std::array<std::size_t, 7> lent_counts{0, 1, 3, 500, 8000, 70'000, 300'000};

std::vector<std::uint32_t> ascending(std::size_t n, std::uint32_t from) {
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), from);
  return all;
}

loan<std::uint32_t> filled_loan(context& ctx, std::size_t n, std::uint32_t from) {
  loan<std::uint32_t> l = ctx.make_loan<std::uint32_t>(n);
  expect(l.size() == n, "as long as it was asked for");
  std::iota(l.begin(), l.end(), from);
  return l;
}

bool view_holds(const lent<std::uint32_t>& view, std::size_t n, std::uint32_t from) {
  if (view.size() != n) return false;
  for (std::size_t i = 0; i != n; ++i)
    if (view[i] != from + i) return false;
  return true;
}

// --- every form there and back --------------------------------------------------------------

task<void> lend_forms(context& ctx, endpoint other) {
  for (std::uint32_t round = 0; round != 3; ++round)
    for (const std::size_t n : lent_counts) {
      co_await other.send_loan(lent_tag, filled_loan(ctx, n, round));
      co_await other.send_loan(lent_tag, filled_loan(ctx, n, round + 1));
      co_await other.send_value(lent_tag, ascending(n, round + 2));
      co_await other.send_loan(lent_tag, filled_loan(ctx, n, round + 3), n + 7);
    }
  loan<std::uint32_t> longer = filled_loan(ctx, 1000, 0);
  longer.shorten(10);
  co_await other.send_loan(lent_tag, std::move(longer));
  expect(!longer, "a loan that was sent is gone");
  expect(co_await outcome(other.send_loan(lent_tag, std::move(longer))) == errc::invalid_argument,
         "it cannot be sent again");
  co_await other.recv_value<int>(lent_end);
}
task<void> take_lent_forms(context& ctx, endpoint other) {
  std::uint64_t in_place = 0;
  for (std::uint32_t round = 0; round != 3; ++round)
    for (const std::size_t n : lent_counts) {
      const auto view = co_await other.recv_loan<std::uint32_t>(lent_tag);
      expect(view_holds(view, n, round), std::to_string(n) + " elements of a loan");
      expect(view.source() == other.id() && view.tag() == lent_tag, "facts");
      in_place += view.in_place();
      const auto copied = co_await other.recv_value<std::vector<std::uint32_t>>(lent_tag);
      expect(copied == ascending(n, round + 1), std::to_string(n) + " elements copied from a loan");
      const auto plain = co_await other.recv_loan<std::uint32_t>(lent_tag);
      expect(view_holds(plain, n, round + 2) && !plain.in_place(), "a message that is no loan");
      const auto any = co_await ctx.recv_loan<std::uint32_t>(lent_tag);
      expect(view_holds(any, n, round + 3) && any.about().immediate == n + 7, "from any source");
      in_place += any.in_place();
    }
  const auto shortened = co_await other.recv_loan<std::uint32_t>(lent_tag);
  expect(view_holds(shortened, 10, 0), "a loan that was shortened");
  in_place += shortened.in_place();
  expect(ctx.snapshot().loans_viewed == in_place, "views are counted");
  co_await other.send_value(lent_end, 0);
}

// --- views that outlast their messages --------------------------------------------------------

constexpr std::uint32_t views_kept = 40;

task<void> lend_kept(context& ctx, endpoint other) {
  for (std::uint32_t round = 0; round != 5; ++round) {
    for (std::uint32_t i = 0; i != views_kept; ++i)
      co_await other.send_loan(lent_tag, filled_loan(ctx, 5000, i));
    co_await other.recv_value<int>(lent_ready);
  }
}
task<void> keep_views(context&, endpoint other) {
  for (std::uint32_t round = 0; round != 5; ++round) {
    std::vector<lent<std::uint32_t>> views;
    for (std::uint32_t i = 0; i != views_kept; ++i)
      views.push_back(co_await other.recv_loan<std::uint32_t>(lent_tag));
    for (std::uint32_t i = 0; i != views_kept; ++i)
      expect(view_holds(views[i], 5000, i), "a view is not changed by later messages");
    std::swap(views[3], views[20]);
    views.erase(views.begin() + 10);
    // The others end on another thread.
    std::thread([all = std::move(views)]() mutable { all.clear(); }).join();
    co_await other.send_value(lent_ready, 0);
  }
}

// --- errors and stops ---------------------------------------------------------------------------

task<void> lend_odd(context& ctx, endpoint other) {
  for (const std::size_t n : {7u, 70'001u}) {
    loan<std::uint8_t> odd = ctx.make_loan<std::uint8_t>(n);
    co_await other.send_loan(lent_tag, std::move(odd));
    co_await other.send_loan(lent_tag, filled_loan(ctx, n, 5));
    co_await other.send_loan(lent_tag, filled_loan(ctx, n, 6));
  }
  co_await other.recv_value<int>(lent_ready);
  co_await other.send_loan(lent_tag, filled_loan(ctx, 10, 9));
  errc beyond = errc::ok;
  try {
    ctx.make_loan<char>(std::size_t{1} << 40);
  } catch (const error& e) {
    beyond = e.kind();
  }
  expect(beyond == errc::out_of_memory, "a loan beyond the budget");
  co_await other.recv_value<int>(lent_end);
}
task<void> take_odd(context&, endpoint other) {
  using std::chrono::milliseconds;
  for (const std::size_t n : {7u, 70'001u}) {
    expect(co_await outcome(other.recv_loan<std::uint32_t>(lent_tag)) == errc::protocol_error,
           "no whole number of elements");
    expect(
        co_await outcome(other.recv_loan<std::uint32_t>(lent_tag, {4 * n - 1})) == errc::truncated,
        "longer than the limit");
    expect(view_holds(co_await other.recv_loan<std::uint32_t>(lent_tag), n, 6), "the next message");
  }
  const auto stopped =
      co_await as_result(within(milliseconds(20), other.recv_loan<std::uint32_t>(lent_tag)));
  expect(stopped.code() != errc::ok, "a receive that is stopped");
  co_await other.send_value(lent_ready, 0);
  expect(view_holds(co_await other.recv_loan<std::uint32_t>(lent_tag), 10, 9), "and the next one");
  co_await other.send_value(lent_end, 0);
}

// --- the pool -----------------------------------------------------------------------------------

constexpr std::uint32_t lent_one_by_one = 40;
constexpr std::size_t lent_each = 250'000;
static_assert(lent_one_by_one * lent_each * sizeof(std::uint32_t) > 2 * loan_budget);

/// Memory comes back when views end.
task<void> lend_more(context& ctx, endpoint other) {
  for (std::uint32_t i = 0; i != lent_one_by_one; ++i) {
    co_await other.send_loan(lent_tag, filled_loan(ctx, lent_each, i));
    if (i % 10 == 9) co_await other.recv_value<int>(lent_ready);
  }
}
task<void> take_more(context&, endpoint other) {
  for (std::uint32_t i = 0; i != lent_one_by_one; ++i) {
    {
      const auto view = co_await other.recv_loan<std::uint32_t>(lent_tag);
      expect(view[0] == i && view[lent_each - 1] == i + lent_each - 1, "a loan among many");
    }
    if (i % 10 == 9) co_await other.send_value(lent_ready, 0);
  }
}

// --- one loan, several receives -----------------------------------------------------------------

task<void> lend_to_several(context& ctx, endpoint other) {
  for (const std::size_t n : lent_counts) {
    shared_loan<std::uint32_t> one(filled_loan(ctx, n, 4));
    const shared_loan<std::uint32_t> copy = one;
    co_await other.send_loan(lent_tag, one);
    co_await other.send_loan(lent_tag, copy, 17);
    co_await other.send_loan(lent_tag, std::move(one));
    expect(n == 0 || copy.span()[n - 1] == 3 + n, "what is sent is still there");
  }
  shared_loan<std::uint32_t> none;
  expect(co_await outcome(other.send_loan(lent_tag, none)) == errc::invalid_argument, "no memory");
  co_await other.recv_value<int>(lent_end);
}
task<void> take_several(context&, endpoint other) {
  for (const std::size_t n : lent_counts) {
    const auto first = co_await other.recv_loan<std::uint32_t>(lent_tag);
    const auto second = co_await other.recv_loan<std::uint32_t>(lent_tag);
    const auto copied = co_await other.recv_value<std::vector<std::uint32_t>>(lent_tag);
    expect(view_holds(first, n, 4) && view_holds(second, n, 4), "two views of one loan");
    expect(second.about().immediate == 17, "each message has its own word");
    expect(copied == ascending(n, 4), "and a copy");
    expect(n == 0 || !first.in_place() || !second.in_place() || first.data() == second.data(),
           "one memory");
  }
  co_await other.send_value(lent_end, 0);
}

}  // namespace

CONFORMS("a loan that is sent several times", lend_to_several, take_several)
CONFORMS("loans of all sizes, to receives of all forms", lend_forms, take_lent_forms)
CONFORMS("views live on while later messages come, and end on any thread", lend_kept, keep_views)
CONFORMS("loans that do not fit their receive, and receives that are stopped", lend_odd, take_odd)
CONFORMS("loans of more bytes than the pool has, one after the other", lend_more, take_more)
