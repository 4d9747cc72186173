// SPDX-License-Identifier: Apache-2.0
// A stream compared with plain messages and, on one host, a Unix socket, in turns in the same pair
// of processes: bytes there and back, and bytes one way.
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "commands.hpp"
#include "output/stats.hpp"
#include "stage/local_line.hpp"
#include "stage/report.hpp"
#include "stage/stage.hpp"
#include "stage/turns.hpp"
#include "support/clock.hpp"
#include "support/job.hpp"
#include "support/pattern.hpp"

namespace weft::bench::stream_command {
namespace {

struct request {
  settings chosen;
  std::vector<std::size_t> sizes{8, 1024, 64 << 10, 1 << 20};
  int rounds = 15;
};

/// The ways in turns; the last one only on one host.
enum way : std::size_t { messages, by_stream, by_socket, way_count };
constexpr std::array<const char*, way_count> names{"messages", "stream", "Unix socket"};

/// One end of each.
struct ends {
  const side& me;
  stream& pipe;
  int socket;  ///< -1: none

  task<void> send(way by, const_buffer data) const {
    if (by == messages) co_return co_await me.peer.send(data, data_tag);
    if (by == by_stream) co_return co_await pipe.write(data);
    while (!data.empty()) data = data.subspan(moved(::write(socket, data.data(), data.size())));
  }
  task<void> receive(way by, mutable_buffer into) const {
    if (by == messages) {
      co_await me.peer.recv(into, data_tag);
      co_return;
    }
    while (!into.empty()) {
      std::size_t n = 0;
      if (by == by_stream)
        n = co_await pipe.read(into);
      else
        n = moved(::read(socket, into.data(), into.size()));
      if (n == 0) throw std::runtime_error("the stream has ended");
      into = into.subspan(n);
    }
  }

 private:
  static std::size_t moved(ssize_t n) {
    if (n <= 0) throw std::system_error(n < 0 ? errno : EPIPE, std::generic_category(), "socket");
    return static_cast<std::size_t>(n);
  }
};

/// Microseconds for each message: half a round trip, or one way with an answer at the end.
task<double> measure(const ends& e, way by, bool there_and_back, std::size_t size) {
  const std::size_t count =
      std::max<std::size_t>(16, std::min<std::size_t>(2000, (16 << 20) / size));
  std::vector<std::byte> out(size), in(size), answer(1);
  fill(out, 1);
  co_await barrier(e.me);
  const auto start = now_ns();
  for (std::size_t i = 0; i != count; ++i) {
    if (e.me.rank == 0) co_await e.send(by, out);
    if (e.me.rank == 1 || there_and_back) co_await e.receive(by, in);
    if (e.me.rank == 1 && there_and_back) co_await e.send(by, out);
  }
  if (!there_and_back) {
    if (e.me.rank == 1) co_await e.send(by, answer);
    if (e.me.rank == 0) co_await e.receive(by, answer);
  }
  const double each = us_between(start, now_ns()) / static_cast<double>(count);
  if (e.me.rank == 1 || there_and_back) verify(in, 1);
  co_return there_and_back ? each / 2 : each;
}

using figures = std::array<std::vector<double>, way_count>;

task<void> act(side& me, const request& wanted, int socket) {
  stream pipe(me.peer);
  const ends e{me, pipe, socket};
  const std::size_t tried = socket < 0 ? by_socket : way_count;
  report out({{"size", "size"},
              {"", "what"},
              {"by", "by"},
              {"µs", "us"},
              {"× messages", "to_messages"},
              {"× Unix socket", "to_socket"}},
             wanted.chosen.as_json);
  co_await barrier(me);
  if (me.rank == 0) out.title(me.peer.describe());
  for (const std::size_t size : wanted.sizes)
    for (const bool there_and_back : {true, false}) {
      figures of;
      co_await take_turns(wanted.rounds, tried, [&](std::size_t by, bool counts) -> task<void> {
        const double us = co_await measure(e, static_cast<way>(by), there_and_back, size);
        if (counts) of[by].push_back(us);
      });
      if (me.rank != 0) continue;
      for (std::size_t by = 0; by != tried; ++by) {
        auto line = make_line(head_of("stream", wanted.chosen, size), "us", of[by]);
        line["what"] = there_and_back ? "half round trip" : "one way";
        line["by"] = names[by];
        line["to_messages"] = median_ratio(of[by], of[messages]);
        if (tried == way_count) line["to_socket"] = median_ratio(of[by], of[by_socket]);
        out.add(line);
      }
    }
  if (me.rank == 0) out.finish();
  pipe.close();
  co_await pipe.closed();
}

void measure_all(pair_member& member, const request& wanted) {
  const unique_fd line = local_line(member, SOCK_STREAM);
  on_stage(member, wanted.chosen, [&](side& me) { return act(me, wanted, line.get()); });
}

}  // namespace

void add(CLI::App& app) {
  auto wanted = std::make_shared<request>();
  auto* sub = app.add_subcommand("stream", "A stream beside messages and a Unix socket, by turns");
  add_sizes(*sub, wanted->sizes, "Writes")->check(CLI::PositiveNumber);
  sub->add_option("--rounds", wanted->rounds, "Turns of each")->check(CLI::PositiveNumber);
  add_settings(*sub, wanted->chosen);
  add_side_options(*sub, wanted->chosen);
  sub->callback([wanted] {
    on_sides("stream", wanted->chosen, [&](pair_member& member) { measure_all(member, *wanted); });
  });
}

}  // namespace weft::bench::stream_command
