// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <future>
#include <optional>

#include <weft/weft.hpp>

namespace weft::info {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr tag ping{1};
constexpr tag pong{2};
// More than a context needs to learn which way is faster.
constexpr int uncounted = 48;
constexpr int least = 32;
constexpr auto enough = 30ms;
constexpr auto time_to_meet = 5s;

/// Memory for a message: ordinary, or of weft's shared memory.
class message_memory {
 public:
  message_memory(context& owner, std::size_t size, bool shared) {
    if (shared)
      shared_.emplace(owner, std::max<std::size_t>(size, 1));
    else
      plain_.resize(size);
    bytes_ = (shared ? shared_->bytes() : std::span(plain_)).first(size);
    std::ranges::fill(bytes_, std::byte{1});  // what was never written has another way
  }
  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> plain_;
  std::optional<weft::shared_memory> shared_;
  std::span<std::byte> bytes_;
};

/// The side that measures ends with a message of no bytes.
task<std::vector<double>> go_back_and_forth(endpoint to, const_buffer out, mutable_buffer in) {
  std::vector<double> samples;
  const auto began = clock::now();
  for (int n = 0; n < uncounted + least || clock::now() - began < enough; ++n) {
    const auto start = clock::now();
    co_await to.send(out, ping, 1);
    co_await to.recv(in, pong);
    if (n >= uncounted)
      samples.push_back(std::chrono::duration<double, std::micro>(clock::now() - start).count());
  }
  co_await to.send(const_buffer{}, ping);
  co_return samples;
}
task<void> answer(endpoint to, const_buffer out, mutable_buffer in) {
  for (;;) {
    const received r = co_await to.recv(in, ping);
    if (r.immediate == 0) co_return;
    co_await to.send(out, pong);
  }
}

double half_trip(const options& chosen, std::size_t bytes, bool shared) {
  static int count = 0;
  const std::string address = fmt::format("unix://weft-info-{}-{}", ::getpid(), ++count);
  context here(chosen), there(chosen);
  listener listening = run(here, here.listen(address));
  auto other = std::async(std::launch::async, [&] {
    const message_memory out(there, bytes, shared), in(there, bytes, false);
    const endpoint to = run(there, within(time_to_meet, there.connect(address)));
    run(there, answer(to, out.bytes(), in.bytes()));
  });
  const message_memory out(here, bytes, shared), in(here, bytes, false);
  const endpoint to = run(here, within(time_to_meet, listening.accept()));
  std::vector<double> samples = run(here, go_back_and_forth(to, out.bytes(), in.bytes()));
  other.get();
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle / 2;
}

/// Whether messages of that size need a handshake, so that there are several ways.
bool is_rendezvous(const options& chosen, std::size_t bytes) {
  const context ctx(chosen);
  return explain_routes(ctx, bytes, true).size() > 1;
}

}  // namespace

std::vector<measured_way> measure(const options& chosen, std::size_t bytes) {
  options with = chosen;
  with.standalone = true;
  with.trace_file.clear();
  with.call_tree_file.clear();
  std::vector<measured_way> all{{"as chosen", half_trip(with, bytes, false)}};
  if (!is_rendezvous(with, bytes)) return all;
  for (const auto& [way, scheme] : {std::pair{"in frames", rendezvous_scheme::frames},
                                    std::pair{"by get", rendezvous_scheme::get}}) {
    options fixed = with;
    fixed.experimental.rendezvous = scheme;
    all.push_back({way, half_trip(fixed, bytes, false)});
  }
  if (std::find(with.transports.begin(), with.transports.end(), "shm") != with.transports.end())
    all.push_back({"out of weft::shared_memory", half_trip(with, bytes, true)});
  return all;
}

}  // namespace weft::info
