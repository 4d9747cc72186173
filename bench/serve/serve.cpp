// SPDX-License-Identifier: Apache-2.0
// Runs the other side of benchmarks for clients on other hosts, one after the other. A client has
// the job key, or does not get to a word. Each side is a process of its own: the server outlives
// it, and ends it when its client has gone.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <weft/build.hpp>

#include "commands.hpp"
#include "serve/command_line.hpp"
#include "serve/note.hpp"
#include "serve/served_process.hpp"
#include "stage/linked_member.hpp"

namespace weft::bench::serve_command {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_session = 1h;
constexpr auto time_to_leave = 2s;

struct request {
  std::string host = "0.0.0.0";
  std::uint16_t port = usual_port;
  std::string key_file;
};

template <class... Args>
void log(fmt::format_string<Args...> format, Args&&... args) {
  fmt::print(format, std::forward<Args>(args)...);
  std::fflush(stdout);
}

/// The next note of the side; empty bytes: the side has ended.
task<note> next_note(context& ctx, const served_process& side) {
  std::vector<std::byte> packet(note::longest);
  for (;;) {
    co_await readable(ctx, side.line());
    const ssize_t n = ::recv(side.line(), packet.data(), packet.size(), MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    packet.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    co_return note(std::move(packet));
  }
}

/// Passes the side's notes on, until it has ended.
task<std::string> follow(context& ctx, endpoint client, served_process& side) {
  bool has_failed = false;
  for (;;) {
    note said = co_await next_note(ctx, side);
    if (said.bytes().empty()) break;
    has_failed = !said.address().has_value();
    co_await send_note(client, std::move(said));
  }
  const std::string& how = side.end();
  if (!how.empty() && !has_failed) co_await send_note(client, note::of_failure(how));
  co_return how;
}

/// A client sends nothing to the server, so only its end ends this.
task<std::string> departure(endpoint client) {
  const auto end = co_await as_result(client.recv(mutable_buffer{}, any_tag));
  co_return end ? "the client broke the rules" : end.failure().what();
}

/// Runs one side to its end, or to its client's.
task<void> attend(context& ctx, endpoint client, std::vector<std::string> words) {
  std::string how;
  try {
    served_process side(words);
    const auto end = std::chrono::steady_clock::now() + longest_session;
    const auto first = co_await until(end, when_any(follow(ctx, client, side), departure(client)));
    if (first.index() == 0) {
      how = std::get<0>(first);
    } else {
      how = std::get<1>(first);
      // In good order, the side is about to end as well.
      auto rest = co_await as_result(within(time_to_leave, follow(ctx, client, side)));
      if (rest && rest.value().empty()) how.clear();
    }
  } catch (const std::exception& e) {
    how = e.what();
  }
  log("  ended{}{}\n", how.empty() ? "" : ": ", how);
}

class server {
 public:
  server(context& ctx, const CLI::App& app) : ctx_(ctx), app_(app) {}

  /// Ends only with a failure of the listener.
  task<void> work(listener at) {
    scope sessions;
    for (;;) {
      auto client = co_await at.next();
      std::vector<std::string> words;
      std::string refusal;
      try {
        if (busy_) throw std::runtime_error("it is busy with another client; try again later");
        words = words_in(client.private_data(), app_);
      } catch (const std::runtime_error& e) {
        refusal = e.what();
      }
      if (!refusal.empty()) {
        log("refused a client: {}\n", refusal);
        client.reject(refusal);
        continue;
      }
      busy_ = true;
      sessions.start(serve(std::move(client), std::move(words)));
    }
  }

 private:
  task<void> serve(listener::connection_request client, std::vector<std::string> words) {
    log("{}\n", fmt::join(words, " "));
    auto accepted = co_await as_result(client.accept());
    if (accepted) {
      endpoint peer = std::move(accepted).value();
      co_await attend(ctx_, peer, std::move(words));
      // The client leaves first, when it has its last note.
      static_cast<void>(co_await as_result(within(time_to_leave, departure(peer))));
      peer.close();
    }
    busy_ = false;
  }

  context& ctx_;
  const CLI::App& app_;
  bool busy_ = false;
};

options options_for(const request& wanted) {
  options result = options_of_link();
  result.progress = progress_mode::interrupt;  // asleep while a side measures
  if (!wanted.key_file.empty()) {
    result.job_key.clear();
    result.job_key_file = wanted.key_file;
  }
  if (result.job_key.empty() && result.job_key_file.empty()) throw std::runtime_error(needs_key);
  return result;
}

void act(const request& wanted, const CLI::App& app) {
  context ctx(options_for(wanted));
  listener at = run(ctx, ctx.listen(fmt::format("tcp://{}:{}", wanted.host, wanted.port)));
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string where = at.address();
  log("weft-bench {} serves at {}. On another host, with the same key:\n"
      "weft-bench latency --to {}{} --transport tcp\n",
      version(), where, host.data(), where.substr(where.rfind(':')));
  server here(ctx, app);
  run(ctx, here.work(std::move(at)));
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("serve", "The other side of benchmarks with --to on other hosts");
  sub->add_option("--port", wanted->port, "Where it listens; 0: any free port");
  sub->add_option("--host", wanted->host, "The address where it listens; all of IPv4 by default");
  sub->add_option("--key-file", wanted->key_file, "The file with the job key that clients need");
  sub->callback([wanted, &app] { act(*wanted, app); });
}

}  // namespace weft::bench::serve_command
