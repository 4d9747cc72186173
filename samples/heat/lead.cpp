// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "deal.hpp"
#include "halo.hpp"
#include "job.hpp"

namespace heat {

using namespace weft;

namespace {

/// The picture, or an error text.
picture load(const settings& s, std::string& problem) {
  try {
    picture p = read_picture(s.picture);
    check_writable(s.out, p.channels);
    return p;
  } catch (const picture_error& e) {
    problem = e.what();
    return {};
  }
}

/// The first place where two plates differ, bit by bit; empty if they are equal.
std::string difference(strip& ours, strip& expected, const plan& p) {
  const auto got = ours.rows(0, p.height), want = expected.rows(0, p.height);
  const auto bits = [](float f) { return std::bit_cast<std::uint32_t>(f); };
  const auto at = std::ranges::mismatch(got, want, {}, bits, bits).in1 - got.begin();
  if (at == std::ssize(got)) return {};
  const auto i = static_cast<std::size_t>(at);
  return fmt::format("row {} is not what one process computes: {} instead of {}",
                     i / (got.size() / p.height), got[i], want[i]);
}

/// Checks and writes the result. Returns an error text, or an empty text.
std::string finish(picture p, const plan& all, strip& plate, const settings& s) {
  try {
    if (s.check) {
      strip alone(p);
      alone.diffuse_alone(all.steps, all.rate);
      if (std::string d = difference(plate, alone, all); !d.empty()) return d;
      fmt::print("bit for bit what one process computes\n");
    }
    plate.store(p);
    write_picture(s.out, p);
    fmt::print("{} written\n", s.out.string());
    return {};
  } catch (const picture_error& e) {
    return e.what();
  }
}

}  // namespace

task<int> lead(group world, const settings& s) {
  std::string problem;
  const picture p = load(s, problem);
  plan all;
  if (problem.empty()) all = {p.width, p.height, p.channels, s.steps, s.rate, world.size()};
  co_await world.broadcast(all);

  if (problem.empty()) {
    using enum progress_line::when;
    strip plate(p);
    strip mine(all.width, all.channels, all.first_row(1));
    progress_line line(s.progress ? always : on_a_terminal, all.steps);

    const clock::time_point start = clock::now();
    co_await deal_out(world, all, plate, mine);
    const seconds waited = co_await diffuse(world, all, mine, line);
    co_await collect(world, all, plate, mine);
    const seconds took = clock::now() - start;

    fmt::print(
        "{} x {} pixels, {} steps, {} processes: {:.3f} s, of which rank 0 waited {:.1f} %\n",
        all.width, all.height, all.steps, all.workers(), took.count(),
        100 * waited.count() / took.count());
    problem = finish(p, all, plate, s);
  }

  if (!problem.empty()) fmt::print(stderr, "heat: {}\n", problem);
  int status = problem.empty() ? 0 : 1;
  co_await world.broadcast(status);
  co_return status;
}

}  // namespace heat
