// SPDX-License-Identifier: Apache-2.0
// job_server: factors numbers for clients that come and go.
//
//   job_server --listen unix://factors              in the first terminal, until SIGINT or SIGTERM:
//                                                     serving at unix://factors
//   job_server --connect unix://factors 91 97       in others:
//                                                     91 = 7 * 13
//                                                     97 = 97
//   job_server --connect unix://factors             asks nothing, and stays until the server ends
//   it
//
// A signal closes the door. Clients still get the answers to their questions, and then the server
// ends. A client that does not ask, or does not take its answer, for --patience seconds has to go.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;

constexpr tag question{1}, answer{2};

struct settings {
  std::string listen_at = {}, connect_to = {};
  double patience = 30;
  std::vector<std::uint64_t> numbers = {};

  std::chrono::duration<double> limit() const { return std::chrono::duration<double>(patience); }
};

/// A line at once, also into a file.
void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// On a thread of the pool: the other clients do not wait for this one's number.
task<std::vector<std::uint64_t>> factor(pool& workers, std::uint64_t number) {
  co_await resume_on(workers);
  std::vector<std::uint64_t> factors;
  for (std::uint64_t d = 2; d <= number / d; d += d == 2 ? 1 : 2)
    for (; number % d == 0; number /= d) factors.push_back(d);
  if (number > 1 || factors.empty()) factors.push_back(number);
  co_await resume_home();
  co_return factors;
}

class server {
 public:
  server(context& ctx, const settings& s) : ctx_(&ctx), s_(&s), signals_(ctx, {SIGINT, SIGTERM}) {}

  task<void> serve() {
    listener door = co_await ctx_->listen(s_->listen_at);
    say("serving at " + door.address());
    scope clients;
    clients.start(door.accept_all(
        [this, number = 0](endpoint client) mutable { return host(std::move(client), ++number); }));
    co_await signals_.next();
    say("closing");
    door.close();
    closing_.request_stop();  // ends the waits for questions, and nothing else
    co_await clients.join();
    say("closed");
  }

 private:
  /// A client's failure ends its coroutine, and no other.
  task<void> host(endpoint client, int its) {
    const result<void> end = co_await as_result(answer_all(client, its));
    say(fmt::format("client {} goes: {}", its, end.failure().what()));
    client.close();
    static_cast<void>(co_await as_result(within(s_->limit(), client.closed())));
  }

  /// Ends by an error: timed_out, stopped by `closing_`, or the client has gone.
  task<void> answer_all(endpoint client, int its) {
    for (;;) {
      const auto number = co_await stoppable(
          closing_.get_token(), within(s_->limit(), client.recv_value<std::uint64_t>(question)));
      say(fmt::format("client {} asks for {}", its, number));
      const std::vector<std::uint64_t> factors = co_await factor(workers_, number);
      co_await within(s_->limit(), client.send_value(answer, factors));
    }
  }

  context* ctx_;
  const settings* s_;
  signal_set signals_;  // before the threads of the pool, which must not get signals
  pool workers_;
  std::stop_source closing_;
};

task<void> ask(context& ctx, const settings& s) {
  endpoint there = co_await within(s.limit(), ctx.connect(s.connect_to));
  for (const std::uint64_t number : s.numbers) {
    co_await there.send_value(question, number);
    const auto factors = co_await there.recv_value<std::vector<std::uint64_t>>(answer);
    say(fmt::format("{} = {}", number, fmt::join(factors, " * ")));
  }
  if (!s.numbers.empty()) there.close();
  co_await there.closed();
}

task<void> act(context& ctx, const settings& s) {
  if (!s.connect_to.empty()) co_return co_await ask(ctx, s);
  server one(ctx, s);
  co_await one.serve();
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("A server that factors numbers, and its clients.");
  auto* way = app.add_option_group("one of");
  way->add_option("--listen", s.listen_at, "serve at this address");
  auto* connect = way->add_option("--connect", s.connect_to, "ask the server there");
  way->require_option(1);
  app.add_option("--patience", s.patience, "seconds to wait for the other side")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("numbers", s.numbers, "numbers for the server to factor")->needs(connect);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return weft::run_main(act, s);
}
