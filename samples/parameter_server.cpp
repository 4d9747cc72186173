// SPDX-License-Identifier: Apache-2.0
// parameter_server: rank 0 keeps the parameters of a model; the other ranks fetch them, compute a
// gradient on data of their own, and post it, each at its own pace. They fit y = 3x - 2 by least
// squares.    weft-run -n 4 parameter_server
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <random>
#include <stdexcept>
#include <vector>

#include <weft/weft.hpp>

namespace {

using namespace weft;
using namespace std::chrono_literals;

// The handlers of rank 0.
constexpr am fetch{1};   // parameters, with the number of gradients in them
constexpr am push{2};    // a gradient, one way
constexpr am report{3};  // a rank is done; the reply comes when all are

constexpr int steps = 400;
constexpr double rate = 0.1;

struct model {
  std::array<double, 2> weights{};  // slope, offset
  std::uint64_t version = 0;
};

/// Rank 0. Handlers of a context run one at a time on the thread inside run(), so that they need no
/// lock.
task<void> serve(context& ctx, std::size_t workers) {
  model m;
  std::size_t left = workers;
  const handler fetches = ctx.on<model()>(fetch, [&] { return m; });
  const handler pushes = ctx.on<void(std::vector<double>)>(push, [&](std::vector<double> gradient) {
    if (gradient.size() != m.weights.size())
      throw std::invalid_argument("another model's gradient");
    for (std::size_t i = 0; i != gradient.size(); ++i) m.weights[i] -= rate * gradient[i];
    ++m.version;
  });
  handler reports = ctx.on<model()>(report, [&]() -> task<model> {
    --left;
    while (left != 0) co_await sleep_for(1ms);
    co_return m;
  });
  while (left != 0) co_await sleep_for(1ms);
  co_await reports.end();  // when the last reply has left
  fmt::print("after {} gradients of {} workers: y = {:.3f} x {:+.3f}\n", m.version, workers,
             m.weights[0], m.weights[1]);
}

/// The gradient of the squared error at a few random points.
std::vector<double> gradient_of(const model& m, std::mt19937& dice) {
  std::uniform_real_distribution<double> somewhere(-1, 1);
  constexpr int points = 16;
  std::vector<double> g(2);
  for (int i = 0; i != points; ++i) {
    const double x = somewhere(dice);
    const double off = m.weights[0] * x + m.weights[1] - (3 * x - 2);
    g[0] += off * x / points;
    g[1] += off / points;
  }
  return g;
}

/// The other ranks. A server that does not answer within a second is an error.
task<void> work(endpoint server, unsigned seed) {
  std::mt19937 dice(seed);
  for (int i = 0; i != steps; ++i) {
    const model now = co_await within(1s, server.call<model>(fetch));
    co_await server.post(push, gradient_of(now, dice));
  }
  const model fitted = co_await within(1min, server.call<model>(report));
  if (std::abs(fitted.weights[0] - 3) > 0.05 || std::abs(fitted.weights[1] + 2) > 0.05)
    throw std::runtime_error("the fit is off");
}

}  // namespace

int main() {
  try {
    context ctx;
    group world = ctx.world();
    if (world.size() < 2) throw std::runtime_error("it takes two: weft-run -n 2 parameter_server");
    if (world.rank() == 0)
      run(ctx, serve(ctx, world.size() - 1));
    else
      run(ctx, work(world[0], world.rank()));
    return 0;
  } catch (const std::exception& e) {
    fmt::print(stderr, "parameter_server: {}\n", e.what());
    return 1;
  }
}
