// SPDX-License-Identifier: Apache-2.0
// weft-pipe: the standard input of one process is the standard output of another.
//
//   weft-pipe --listen unix://hose > copy             the one that reads, in the first terminal
//   cat big.file | weft-pipe --connect unix://hose    the one that writes, in the second
//   cat big.file | weft-run -n 2 weft-pipe --output copy    both, as ranks of a job, whose output
//                                                          weft-run would take for lines of text
#include <fmt/format.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using clock = std::chrono::steady_clock;

constexpr std::size_t piece = std::size_t{1} << 20;

struct settings {
  std::string listen_at = {}, connect_to = {}, output = {};
  unsigned timeout = 30;
  bool progress = false;
};

/// Prints the progress on stderr now and then.
class progress_line {
 public:
  explicit progress_line(bool wanted) : wanted_(wanted) {}
  void add(std::size_t bytes) {
    bytes_ += bytes;
    if (wanted_ && clock::now() - last_ > std::chrono::milliseconds(500)) tell("\r");
  }
  void tell(const char* before, const char* after = "") {
    last_ = clock::now();
    const std::chrono::duration<double> took = last_ - start_;
    const double mib = static_cast<double>(bytes_) / (1 << 20);
    if (wanted_)
      fmt::print(stderr, "{}{:.1f} MiB, {:.1f} MiB/s{}", before, mib, mib / took.count(), after);
  }

 private:
  const bool wanted_;
  const clock::time_point start_ = clock::now();
  clock::time_point last_ = start_;
  std::uint64_t bytes_ = 0;
};

/// Reads standard input, which may be silent for hours: the loss of the other side ends that.
/// \return the number of bytes; 0: the end
task<std::size_t> read_input(context& ctx, endpoint to, mutable_buffer into) {
  const auto first = co_await when_any(read_some(ctx, STDIN_FILENO, into), to.closed());
  if (first.index() != 0)
    throw error(errc::peer_lost, "the other side has gone before the end of the input");
  co_return std::get<0>(first);
}

/// Writes standard input to the stream, and waits until the other side has read all of it.
task<void> send_input(context& ctx, endpoint to, bool tells) {
  stream out(to);
  progress_line line(tells);
  std::vector<std::byte> memory(piece);
  for (;;) {
    const std::size_t n = co_await read_input(ctx, to, memory);
    if (n == 0) break;
    co_await out.write(const_buffer(memory).first(n));
    line.add(n);
  }
  out.close();
  co_await out.closed();
  line.tell("\r", "\n");
}

/// Reads up to the end of the stream, and writes the bytes to the chosen file or standard output.
task<void> receive_output(context& ctx, endpoint from, const settings& s) {
  file chosen;
  if (!s.output.empty()) chosen = co_await file::open(ctx, s.output, O_WRONLY | O_CREAT | O_TRUNC);
  const int out = chosen ? chosen.descriptor() : STDOUT_FILENO;
  stream in(from);
  progress_line line(s.progress);
  std::vector<std::byte> memory(piece);
  for (;;) {
    const std::size_t n = co_await in.read(memory);
    if (n == 0) break;
    co_await write_all(ctx, out, const_buffer(memory).first(n));
    line.add(n);
  }
  in.close();
  co_await in.closed();
  line.tell("\r", "\n");
}

task<endpoint> accept_one(listener& listening, std::chrono::seconds timeout) {
  result<endpoint> guest = co_await as_result(within(timeout, listening.accept()));
  if (guest) co_return std::move(guest).value();
  if (guest.code() != errc::timed_out) throw guest.failure();
  throw std::runtime_error(fmt::format("nobody connected to {} within {} s (--timeout)",
                                       listening.address(), timeout.count()));
}

task<void> act(context& ctx, const settings& s) {
  const std::chrono::seconds timeout(s.timeout);
  if (!s.listen_at.empty()) {
    listener listening = co_await ctx.listen(s.listen_at);
    const endpoint writer = co_await accept_one(listening, timeout);
    co_return co_await receive_output(ctx, writer, s);
  }
  if (!s.connect_to.empty()) {
    const endpoint reader = co_await within(timeout, ctx.connect(s.connect_to));
    co_return co_await send_input(ctx, reader, s.progress);
  }
  const group world = ctx.world();
  if (world.size() != 2)
    throw std::runtime_error("it takes two: weft-run -n 2 weft-pipe, or --listen and --connect");
  if (world.rank() == 0) co_return co_await send_input(ctx, world[1], s.progress);
  co_await receive_output(ctx, world[0], s);
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("The standard input of one process becomes the standard output of another.");
  auto* listen =
      app.add_option("--listen", s.listen_at, "write to stdout what is sent to this listener");
  app.add_option("--connect", s.connect_to, "send stdin to whoever listens there")
      ->excludes(listen);
  app.add_option("--output", s.output, "write to this file instead of stdout");
  app.add_option("--timeout", s.timeout, "seconds to wait for the other one")
      ->capture_default_str();
  app.add_flag("--progress", s.progress, "tell on stderr how far it is");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  std::signal(SIGPIPE, SIG_IGN);  // the write then fails instead
  try {
    context ctx;
    run(ctx, act(ctx, s));
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "weft-pipe: {}\n", e.what());
    return 1;
  }
}
