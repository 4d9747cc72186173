// SPDX-License-Identifier: Apache-2.0
// Other processes connect to one process and part from it, at random, again and again; it checks
// what they leave in it.
//   churn SECONDS                     the host, which starts the guests
//   churn SECONDS ADDRESS [ADDRESS]   a guest: many contexts that come and go
// A guest ends in good order, or suddenly with all that it has.

#include <malloc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using namespace std::chrono_literals;
using bytes = std::vector<std::byte>;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t guests = 2, contexts = 8;
constexpr std::size_t longest = 100'000;
constexpr tag word{1};
constexpr auto one_round = 400ms;
// One byte is kept for each peer that has gone. The rest is memory that the heap reuses soon, and
// does not grow with the number of peers.
constexpr double most_kept = 100, noise = 64 * 1024;

// --- a guest -------------------------------------------------------------------------------------

struct seat {
  std::unique_ptr<context> ctx;
  endpoint host = {};
};

task<void> talk(endpoint to, std::size_t size, std::byte with) {
  const bytes out(size, with);
  bytes in(size);
  co_await to.send(out, word);
  const received got = co_await to.recv(in, word);
  if (got.size != size || in != out) throw std::runtime_error("a wrong answer");
}

int visit(clock_type::duration how_long, const std::vector<std::string>& addresses) {
  std::mt19937 dice(std::random_device{}());
  const auto until = clock_type::now() + how_long;
  std::vector<seat> all(contexts);
  while (clock_type::now() < until) {
    seat& one = all[dice() % all.size()];
    if (one.ctx && dice() % 3 == 0) {
      one.ctx.reset();
      continue;
    }
    if (!one.ctx) {
      one.ctx = std::make_unique<context>();
      one.host = run(*one.ctx, one.ctx->connect(addresses[dice() % addresses.size()]));
    }
    if (dice() % 4 != 0)  // some send nothing
      run(*one.ctx, talk(one.host, 1 + dice() % longest, static_cast<std::byte>(dice())));
  }
  if (dice() % 2 == 0) all.clear();
  std::_Exit(0);  // no destructor
}

// --- the host ------------------------------------------------------------------------------------

struct traces {
  std::size_t descriptors = 0;
  std::size_t bytes = 0;  // bytes of the heap in use

  static traces now() {
    const std::filesystem::directory_iterator all("/proc/self/fd");
    const struct mallinfo2 heap = ::mallinfo2();
    return {static_cast<std::size_t>(std::distance(begin(all), end(all))),
            heap.uordblks + heap.hblkhd};
  }
};

class house {
 public:
  explicit house(std::string program) : program_(std::move(program)) {}

  void open() {
    const std::string name = "unix://weft-churn-" + std::to_string(::getpid());
    doors_.push_back(run(ctx_, ctx_.listen(name)));
    if (std::getenv("WEFT_JOB_KEY")) doors_.push_back(run(ctx_, ctx_.listen("tcp://127.0.0.1:0")));
  }
  /// Guests connect, and have all gone when this returns.
  void receive() { run(ctx_, round()); }
  std::uint64_t came() const noexcept { return came_; }

 private:
  task<void> round() {
    scope all;
    for (listener& listening : doors_) all.start(welcome(listening, all));
    std::vector<pid_t> there;
    for (std::size_t i = 0; i != guests; ++i) there.push_back(start());
    while (!there.empty() || present_ != 0) {
      co_await sleep_for(1ms);
      std::erase_if(there, [](pid_t pid) {
        int status = 0;
        if (::waitpid(pid, &status, WNOHANG) != pid) return false;
        if (status != 0) throw std::runtime_error("a guest failed");
        return true;
      });
    }
    all.request_stop();
    co_await all.join();
  }

  task<void> welcome(listener& listening, scope& all) {
    for (;;) {
      listener::connection_request who = co_await listening.next();
      auto guest = co_await as_result(who.accept());
      if (!guest) continue;  // it has gone in the meantime
      ++came_;
      ++present_;
      all.start(serve(guest.value()));
    }
  }

  task<void> serve(endpoint guest) {
    bytes in(longest);
    for (;;) {
      auto got = co_await as_result(guest.recv(in, word));
      if (!got) break;
      const auto sent = co_await as_result(guest.send(std::span(in).first(got.value().size), word));
      if (!sent) break;
    }
    --present_;
  }

  pid_t start() const {
    std::vector<std::string> words{
        program_, std::to_string(std::chrono::duration<double>(one_round).count())};
    for (const listener& listening : doors_) words.push_back(listening.address());
    std::vector<char*> arguments;
    for (std::string& w : words) arguments.push_back(w.data());
    arguments.push_back(nullptr);
    pid_t pid = 0;
    if (::posix_spawn(&pid, program_.c_str(), nullptr, nullptr, arguments.data(), environ) != 0)
      throw std::runtime_error("a guest cannot be started");
    return pid;
  }

  const std::string program_;
  context ctx_;
  std::vector<listener> doors_;
  std::uint64_t came_ = 0;
  std::size_t present_ = 0;
};

/// The state after all closed connections are gone: some objects end a moment after their peer.
traces settled() {
  traces last = traces::now();
  for (int quiet = 0; quiet != 20; ++quiet) {
    std::this_thread::sleep_for(10ms);
    const traces next = traces::now();
    if (next.descriptors != last.descriptors) quiet = 0;
    last = next;
  }
  return last;
}

int keep_house(const char* program, clock_type::duration how_long) {
  house h(program);
  h.open();
  for (int i = 0; i != 3; ++i) h.receive();  // allocates what is made once only
  const traces before = settled();
  const std::uint64_t warmed = h.came();
  const auto until = clock_type::now() + how_long;
  while (clock_type::now() < until) h.receive();
  const traces after = settled();
  const std::uint64_t went = h.came() - warmed;
  const double more = static_cast<double>(after.bytes) - static_cast<double>(before.bytes);
  std::cout << went << " came and went; descriptors " << before.descriptors << ", then "
            << after.descriptors << "; bytes kept: " << more << std::endl;
  const bool too_much = more > most_kept * static_cast<double>(went) + noise;
  return went == 0 || after.descriptors > before.descriptors || too_much ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: churn SECONDS [ADDRESS...]\n";
    return 2;
  }
  try {
    const auto how_long = std::chrono::duration_cast<clock_type::duration>(
        std::chrono::duration<double>(std::strtod(argv[1], nullptr)));
    return argc == 2 ? keep_house(argv[0], how_long) : visit(how_long, {argv + 2, argv + argc});
  } catch (const std::exception& e) {
    std::cerr << "churn: " << e.what() << std::endl;
    return 1;
  }
}
