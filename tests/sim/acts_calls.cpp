// SPDX-License-Identifier: Apache-2.0
// Calls of one rank, and the handler of another one.
#include <array>
#include <stdexcept>
#include <stop_token>

#include "proto/calls/served_call.hpp"
#include "sim/acts.hpp"
#include "sim/pace.hpp"
#include "sim/service.hpp"

namespace sim {

namespace {

using service_ptr = std::shared_ptr<service>;

/// What the handler of this service does once it knows which call it has.
task<void> go_about(rank& r, service_ptr s, weft::call c, unsigned ticket, unsigned i) {
  const conduct how = s->conduct_of(i);
  if (how == conduct::answers_late) co_await weft::sleep_for(s->work_of(i));
  if (how == conduct::throws) throw std::runtime_error(s->refusal(i));
  if (how == conduct::is_silent) co_return;
  const std::vector<std::byte> reply = s->reply(i);
  co_await r.answer(c, s, ticket, reply);
  if (how == conduct::throws_late) throw std::runtime_error("after its reply");
}

task<void> serve(rank& r, service_ptr s, weft::call c) {
  if (c.from().id() != s->caller) {
    // The rank that breaks the rules calls, too.
    static_cast<void>(co_await as_result(r.take_arguments(c, s, 0)));
    const std::vector<std::byte> reply(3000);
    co_await r.answer(c, s, 0, reply);
    co_return;
  }
  const unsigned ticket = s->entered();
  if (c.data().size() == c.size() && ticket % 3 != 0) {
    if (const std::string wrong = s->judge_arguments(c.data(), ticket); !wrong.empty())
      r.accuse(wrong);
    c.discard();
  } else {
    static_cast<void>(co_await r.take_arguments(c, s, ticket));
  }
  if (const std::optional<unsigned> i = s->index_of(ticket)) co_await go_about(r, s, c, ticket, *i);
}

class coroutine_code final : public weft::detail::call_code {
 public:
  coroutine_code(rank& r, service_ptr s) : rank_(r), service_(std::move(s)) {}
  task<void> serve(weft::call c) override { return sim::serve(rank_, service_, c); }

 private:
  rank& rank_;
  const service_ptr service_;
};

class inline_code final : public weft::detail::call_code {
 public:
  inline_code(rank& r, service_ptr s) : rank_(r), service_(std::move(s)) {}
  task<void> serve(weft::call) override { co_return; }
  bool is_inline() const noexcept override { return true; }
  std::size_t answer(const weft::inline_call& c) override {
    if (c.from != service_->caller) return 0;
    const unsigned ticket = service_->entered();
    if (const std::string wrong = service_->judge_arguments(c.data, ticket); !wrong.empty())
      rank_.accuse(wrong);
    const std::optional<unsigned> i = service_->index_of(ticket);
    if (!i) return 0;
    const conduct how = service_->conduct_of(*i);
    if (how == conduct::throws) throw std::runtime_error(service_->refusal(*i));
    if (how == conduct::is_silent) return 0;
    const std::vector<std::byte> reply = service_->reply(*i);
    std::copy(reply.begin(), reply.end(), c.room.begin());
    return reply.size();
  }

 private:
  rank& rank_;
  const service_ptr service_;
};

/// Has the handler for so long, and then ends it; with `stops` it asks running calls to stop.
task<void> have_handler(rank& r, service_ptr s, nanoseconds how_long, bool stops) {
  std::unique_ptr<weft::detail::call_code> code;
  if (s->is_inline)
    code = std::make_unique<inline_code>(r, s);
  else
    code = std::make_unique<coroutine_code>(r, s);
  const auto handler = r.add_handler(s, std::move(code));
  if (!handler) co_return;
  // Who is asked to stop asks its calls to stop, also those that outlive the handler.
  weft::task_environment& here = co_await weft::current_environment();
  const std::stop_callback stop_calls(here.stop, [&] { handler->stop(); });
  if (how_long == nanoseconds::max())
    static_cast<void>(co_await as_result(s->closes.wait()));
  else
    static_cast<void>(co_await as_result(weft::sleep_for(how_long)));
  r.end_handler(s, *handler, stops);
  co_await handler->ended();
}

task<void> call(rank& r, node to, service_ptr s, pace t) {
  const auto one = [&r, to, &s, &t](unsigned i) {
    return s->one_way(i) ? perform(r.post(to, s, i), t, i) : perform(r.call(to, s, i), t, i);
  };
  co_await perform_all(t, one);
}

constexpr std::array<std::size_t, 6> longest_calls{16, 64, 700, 5000, 20'000, 90'000};

/// One rank calls a handler of another.
/// \param at_once all calls are under way at the same time
void stage_service(job& j, const act& a, dice d, node first, node second, bool at_once) {
  pace t = throw_pace(d);
  t.at_once = t.at_once || at_once;
  const std::size_t longest = d.one_of(longest_calls);
  t.count = throw_count(j, d, longest);
  const bool is_inline = d.percent(30);
  constexpr node no_caller = ~node{0};
  const node caller = first == j.plan().hostile ? no_caller : first;
  const auto s = std::make_shared<service>(d.part(2), handler_of(a), caller, longest, is_inline);
  const nanoseconds how_long = d.percent(30) ? d.up_to(200us) : nanoseconds::max();
  const bool stops = d.percent(50);
  j.when_there(first, a.when + d.up_to(30us),
               [s, t, second](rank& r) { r.play(call(r, second, s, t)); });
  if (second == j.plan().hostile) return;
  j.when_there(second, a.when + d.up_to(d.percent(30) ? 300us : 30us),
               [s, how_long, stops](rank& r) { r.play(have_handler(r, s, how_long, stops)); });
}

}  // namespace

void stage_calls(job& j, const act& a) { stage_service(j, a, a.chance, a.first, a.second, false); }

/// Each of two ranks calls the other at once: their replies meet calls that wait for credit.
void stage_calls_both_ways(job& j, const act& a) {
  stage_service(j, a, a.chance.part(10), a.first, a.second, true);
  stage_service(j, a, a.chance.part(11), a.second, a.first, true);
}

}  // namespace sim
