// SPDX-License-Identifier: Apache-2.0
// Two progress threads with a queue each: which of them ends an operation.
#include <pthread.h>

#include <atomic>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "support/catch.hpp"
#include "support/parts.hpp"
#include "support/skip.hpp"

using namespace weft;

namespace {

/// A pool that counts what the completion thread posts to it.
class counted_pool final : public executor {
 public:
  void post(operation& work) noexcept override {
    char name[16] = "";
    pthread_getname_np(pthread_self(), name, sizeof name);
    if (std::string_view(name) == "weft-completion") ++by_completion_thread;
    workers_.post(work);
  }
  std::atomic<int> by_completion_thread = 0;

 private:
  pool workers_{1};
};

options two_queues() {
  options o;
  o.transports = {"self", "qdma"};
  o.progress = progress_mode::two_threads;
  o.eager_limit = 1024;
  o.experimental.rendezvous = rendezvous_scheme::get;
  o.experimental.eager_data = rendezvous_eager_data::no;
  o.experimental.qdma_copy_completion = copy_completion::two_queues;
  return o;
}

constexpr std::size_t read_by_rdma = 16 * 1024;
constexpr std::size_t reads_at_once = 64;

/// A message of each size.
task<void> send_both(context& ctx, std::string address) {
  endpoint to = co_await ctx.connect(address);
  std::vector<std::byte> data(read_by_rdma, std::byte{7});
  for (const std::size_t size : {std::size_t{4}, read_by_rdma})
    co_await to.send(std::span(data).first(size), tag{1});
}

/// \param counts how many operations the completion thread had ended after each
task<void> receive_both(endpoint from, counted_pool& on, std::vector<int>& counts) {
  co_await resume_on(on);
  for (const std::size_t size : {std::size_t{4}, read_by_rdma}) {
    std::vector<std::byte> in(size);
    co_await from.recv(in, tag{1});
    counts.push_back(on.by_completion_thread);
    CHECK(in == std::vector<std::byte>(size, std::byte{7}));
  }
}

}  // namespace

TEST_CASE("two threads: incoming messages end on one, and reads of memory on the other") {
  if (!tests::has_part("qdma")) return tests::skip("this build has no qdma");
  counted_pool on;
  context sending(two_queues()), receiving(two_queues());
  std::vector<int> counts;
  listener listening = run(receiving, receiving.listen("unix://weft-two-threads"));
  std::thread other([&] { run(sending, send_both(sending, listening.address())); });
  endpoint from = run(receiving, listening.accept());
  run(receiving, receive_both(from, on, counts));
  other.join();
  CHECK(receiving.snapshot().rendezvous_gets == 1);
  CHECK(counts == std::vector<int>{0, 1});
}

TEST_CASE("two threads: many reads at once, while the caller polls and while it sleeps") {
  if (!tests::has_part("qdma")) return tests::skip("this build has no qdma");
  options o = two_queues();
  if (GENERATE(false, true)) o.spin = std::chrono::microseconds{0};
  context sending(o), receiving(o);
  listener listening = run(receiving, receiving.listen("unix://weft-many-reads"));
  std::thread other([&, address = listening.address()] {
    run(sending, [](context& ctx, std::string to) -> task<void> {
      endpoint peer = co_await ctx.connect(to);
      std::vector<std::vector<std::byte>> all;
      scope sends;
      for (std::size_t i = 0; i != reads_at_once; ++i)
        all.emplace_back(read_by_rdma, static_cast<std::byte>(i));
      for (const auto& one : all) sends.start(peer.send(one, tag{1}));
      co_await sends.join();
    }(sending, address));
  });
  std::vector<std::vector<std::byte>> all(reads_at_once, std::vector<std::byte>(read_by_rdma));
  run(receiving, [](listener& at, std::vector<std::vector<std::byte>>& into) -> task<void> {
    endpoint peer = co_await at.accept();
    scope receives;
    for (auto& one : into) receives.start(peer.recv(one, tag{1}));
    co_await receives.join();
  }(listening, all));
  other.join();
  for (std::size_t i = 0; i != reads_at_once; ++i)
    CHECK(all[i] == std::vector<std::byte>(read_by_rdma, static_cast<std::byte>(i)));
}
