// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/cookbook.md, as one program of two ranks.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>
#include <weft/weft.hpp>

using namespace weft;
using namespace std::chrono_literals;

constexpr tag bids{1}, orders{2}, pieces{3}, halves{4}, questions{5}, where{6}, jobs{7},
    pictures{8};
constexpr am find_primes{1};

// [first of two]
task<int> first_of_two(endpoint peer) {
  auto first = co_await when_any(peer.recv_value<int>(bids), peer.recv_value<int>(orders));
  co_return first.index() == 0 ? std::get<0>(first) : std::get<1>(first);
}
// [end]

// [timeout for a send]
task<bool> send_in_time(endpoint peer, const std::vector<double>& data) {
  result<void> sent = co_await as_result(within(50ms, peer.send_value(pieces, data)));
  if (sent.code() == errc::timed_out) co_return false;  // data is free again
  sent.value();                                         // throws any other error
  co_return true;
}
// [end]

// [unknown size]
task<std::size_t> receive_text(endpoint peer) {
  std::string text = co_await peer.recv_value<std::string>(pieces, at_most{64 << 10});
  co_return text.size();
}
// [end]

// [many small]
task<void> send_all(endpoint peer, std::vector<int> numbers) {
  scope sends;
  for (int& n : numbers) sends.start(peer.send_value(pieces, n));
  co_await sends.join();
}
// [end]

// [exchange]
task<std::vector<int>> exchange(endpoint peer, std::vector<int> mine) {
  std::vector<int> theirs;
  co_await when_all(peer.recv_value(halves, theirs), peer.send_value(halves, mine));
  co_return theirs;
}
// [end]

// [loan]
task<void> lend_a_picture(context& ctx, endpoint peer) {
  loan<float> picture = ctx.make_loan<float>(640 * 480);
  std::fill(picture.begin(), picture.end(), 0.5f);  // in place
  co_await peer.send_loan(pictures, std::move(picture));
}

task<float> brightest(endpoint peer) {
  lent<float> picture = co_await peer.recv_loan<float>(pictures);  // read where it lies
  co_return *std::max_element(picture.begin(), picture.end());
}
// [end]

// [answer everyone]
task<void> answer_everyone(context& ctx, int how_many) {
  for (int i = 0; i != how_many; ++i) {
    auto [text, about] = co_await ctx.recv_value_from<std::string>(questions);
    text += "!";
    co_await ctx.peer(about.source).send_value(questions, text);
  }
}
// [end]

// [stream of answers]
async_generator<int> primes(int below) {
  for (int n = 2; n < below; ++n) {
    bool prime = true;
    for (int d = 2; d * d <= n; ++d) prime = prime && n % d != 0;
    if (prime) co_yield n;
  }
}

task<int> first_prime_after(endpoint owner, int least) {
  async_generator<int> all = owner.call_stream<int>(find_primes, 1'000'000);
  while (int* prime = co_await all.next())
    if (*prime > least) co_return *prime;  // the generator ends, and stops the handler
  throw std::runtime_error("no such prime");
}
// [end]

// [lines on a stream]
task<std::string> ask_in_lines(stream& s, std::string question) {
  question += "\n";
  co_await s.write(std::as_bytes(std::span(question)));
  std::string answer = co_await s.read_until("\n", at_most{4096});
  auto digits = co_await s.read_value<std::vector<int>>();  // behind the line
  co_return answer + std::to_string(digits.size());
}

task<void> answer_in_lines(stream& s) {
  std::string line;  // keeps its memory
  co_await s.read_until(line, "\n");
  line += ", of which the digits are:\n";
  co_await s.write(std::as_bytes(std::span(line)));
  std::vector<int> digits{4, 2};
  co_await s.write_value(digits);
}
// [end]

// [channel between processes]
task<void> feed(context& ctx, endpoint worker) {
  remote_sender<std::string> texts(ctx, worker, 2, 16);  // number 2, at most 16 not taken
  for (const char* text : {"warp", "weft", "shed"}) co_await texts.send(text);
  texts.close();
  co_await texts.closed();  // all of them are there
}

task<std::size_t> consume(context& ctx, endpoint feeder) {
  remote_receiver<std::string> texts(ctx, feeder, 2, 16);
  std::size_t characters = 0;
  while (std::optional<std::string> text = co_await texts.receive()) characters += text->size();
  co_return characters;
}
// [end]

// [share a counter]
task<std::uint64_t> next_number(endpoint owner, remote_region_of<std::uint64_t> counter) {
  co_return co_await owner.fetch_add(counter,
                                     1);  // at the owner: region_of<std::uint64_t> c(ctx, 1)
}
// [end]

// [barrier]
task<void> meet(shared_flags flags, std::uint64_t members) {
  std::atomic_ref arrived(flags.as<std::uint64_t>()[0]);
  std::uint64_t sense = flags.value(0) + 1;
  if (arrived.fetch_add(1) + 1 == members) {
    arrived = 0;  // for the next time
    flags.raise(0, sense);
  }
  co_await flags.reaches(0, sense);
}
// [end]

// [work queue]
class work_queue {
 public:
  static constexpr std::uint64_t places = 8, flags_needed = places + 2;
  explicit work_queue(shared_flags flags) : flags_(flags), jobs_(flags.as<int>()) {}

  task<void> put(int job) {
    std::uint64_t n = flags_.add(puts), place = n % places, turn = 2 * (n / places);
    co_await flags_.reaches(place, turn);  // it is empty again
    jobs_[place] = job;
    flags_.raise(place, turn + 1);
  }

  task<int> take() {
    std::uint64_t n = flags_.add(takes), place = n % places, turn = 2 * (n / places) + 1;
    co_await flags_.reaches(place, turn);  // it is full
    int job = jobs_[place];
    flags_.raise(place, turn + 1);
    co_return job;
  }

 private:
  static constexpr std::uint64_t puts = places, takes = places + 1;
  shared_flags flags_;
  std::span<int> jobs_;
};
// [end]

task<void> produce(work_queue& queue) {
  for (int job = 1; job <= 100; ++job) co_await queue.put(job);
}

/// Both ranks produce, and both consume. \return the sum of what they have taken
task<int> produce_and_consume(group world) {
  shared_flags flags = co_await shared_flags::make(world, work_queue::flags_needed,
                                                   work_queue::places * sizeof(int));
  work_queue queue(flags);
  scope both;
  both.start(produce(queue));
  int sum = 0;
  for (int i = 0; i != 100; ++i) sum += co_await queue.take();
  co_await both.join();
  co_return co_await world.all_reduce(sum);
}

task<int> meet_often(group world) {
  shared_flags flags = co_await shared_flags::make(world, 1, sizeof(std::uint64_t));
  for (int i = 0; i != 1000; ++i) co_await meet(flags, world.size());
  co_return static_cast<int>(flags.value(0));
}

// [bounded]
task<void> one_job(endpoint peer, int job, semaphore& permits, int& sum) {
  co_await permits.acquire();
  co_await peer.send_value(jobs, job);
  sum += co_await peer.recv_value<int>(jobs);
  permits.release();
}

task<int> many_jobs(endpoint peer, int how_many) {
  semaphore permits(4);  // at most four jobs at once
  int sum = 0;
  scope all(co_await current_environment());
  for (int job = 0; job != how_many; ++job) all.start(one_job(peer, job, permits, sum));
  co_await all.join();
  co_return sum;
}
// [end]

// [pool]
task<double> heavy(pool& threads, std::vector<double> numbers) {
  co_await resume_on(threads);
  double sum = std::accumulate(numbers.begin(), numbers.end(), 0.0);
  co_await resume_home();  // the thread inside run()
  co_return sum;
}
// [end]

// [no launcher]
task<endpoint> wait_for_client(context& ctx, std::string address) {
  listener door = co_await ctx.listen(address);  // "any://0.0.0.0:4567", "unix://name"
  co_return co_await door.accept();
}

task<endpoint> reach_service(context& ctx, std::string address) {
  retry_policy patience{.attempts = 100, .retriable = is_transient_or_refused};
  co_return co_await with_retry(patience, [&] { return ctx.connect(address); });
}
// [end]

// [signal]
task<void> until_signal(signal_set& end, task<void> work) {
  auto first = co_await when_any(std::move(work), end.next());
  if (first.index() == 1) std::printf("signal %d: the work was stopped\n", std::get<1>(first));
}
// [end]

// [survive]
task<int> sum_of_the_living(group all, int mine) {
  for (;;) {
    result<int> sum = co_await as_result(within(10s, all.all_reduce(mine)));
    if (is_loss(sum.code()))
      all = co_await all.shrink();
    else
      co_return sum.value();
  }
}
// [end]

task<void> first_rank(context& ctx) {
  signal_set end(ctx, {SIGINT, SIGTERM});  // before the thread of the pool
  group world = ctx.world();
  endpoint peer = world[1];
  std::printf("first of two: %d\n", co_await first_of_two(peer));
  handler by_request = ctx.on<async_generator<int>(int)>(find_primes, &primes);
  std::vector<double> much(1'000'000, 1.0);
  std::printf("sent in time: %d\n", co_await send_in_time(peer, much));
  co_await peer.send_value(questions, 0);
  std::printf("characters: %zu\n", co_await receive_text(peer));
  std::vector<int> few{1, 2, 3};
  co_await send_all(peer, few);
  std::vector<int> theirs = co_await exchange(peer, std::vector<int>(100'000, 1));
  std::printf("exchanged: %d\n", theirs.back());
  std::printf("brightest: %.1f\n", co_await brightest(peer));
  co_await answer_everyone(ctx, 1);
  region_of<std::uint64_t> counter(ctx, 1);
  co_await peer.send_value(where, counter.remote());
  std::printf("sum of jobs: %d\n", co_await many_jobs(peer, 10));
  std::printf("times met: %d\n", co_await meet_often(world));
  std::printf("sum of the queue: %d\n", co_await produce_and_consume(world));
  pool threads(1);
  std::printf("on the pool: %.0f\n", co_await heavy(threads, much));
  std::string address = "unix://cookbook-" + std::to_string(getpid());
  co_await peer.send_value(where, address);
  endpoint client = co_await wait_for_client(ctx, address);
  std::printf("from a client: %d\n", co_await client.recv_value<int>(jobs));
  stream lines(peer, 1);
  co_await answer_in_lines(lines);
  lines.close();
  co_await lines.closed();
  if (co_await consume(ctx, peer) != 12) throw std::runtime_error("other texts");
  co_await until_signal(end, world.barrier());
  std::printf("sum of the living: %d\n", co_await sum_of_the_living(world, 1));
}

task<void> second_rank(context& ctx) {
  group world = ctx.world();
  endpoint peer = world[0];
  co_await peer.send_value(orders, 7);
  co_await peer.recv_value<int>(questions);  // until the deadline of the send has passed
  co_await peer.send_value(pieces, std::string(1000, 'x'));
  for (int n = 1; n <= 3; ++n)
    if (co_await peer.recv_value<int>(pieces) != n) throw std::runtime_error("another number");
  co_await exchange(peer, std::vector<int>(100'000, 2));
  co_await lend_a_picture(ctx, peer);
  co_await peer.send_value(questions, std::string("ready"));
  std::string answer = co_await peer.recv_value<std::string>(questions);
  if (answer != "ready!") throw std::runtime_error("another answer");
  auto counter = co_await peer.recv_value<remote_region_of<std::uint64_t>>(where);
  if (co_await next_number(peer, counter) != 0) throw std::runtime_error("another number");
  for (int i = 0; i != 10; ++i) {
    int job = co_await peer.recv_value<int>(jobs);
    co_await peer.send_value(jobs, job * job);
  }
  co_await meet_often(world);
  co_await produce_and_consume(world);
  std::string address = co_await peer.recv_value<std::string>(where);
  endpoint service = co_await reach_service(ctx, address);
  co_await service.send_value(jobs, 42);
  if (co_await first_prime_after(peer, 1000) != 1009) throw std::runtime_error("another prime");
  stream lines(peer, 1);
  if (co_await ask_in_lines(lines, "42") != "42, of which the digits are:2")
    throw std::runtime_error("another line");
  lines.close();
  co_await lines.closed();
  co_await feed(ctx, peer);
  co_await world.barrier();
  co_await sum_of_the_living(world, 2);
}

task<void> play(context& ctx, int, char** argv) {
  if (ctx.world().size() != 2)
    throw std::runtime_error("use: weft-run -n 2 " + std::string(argv[0]));
  if (ctx.world().rank() == 0) return first_rank(ctx);
  return second_rank(ctx);
}

int main(int argc, char** argv) {
  // [arguments]
  return run_main(play, argc, argv);
  // [end]
}
