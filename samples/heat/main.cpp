// SPDX-License-Identifier: Apache-2.0
// heat: lets the brightness of a picture flow like heat, on any number of processes.
//
//   heat picture.pgm                        in this process alone
//   weft-run -n 4 heat picture.pgm          in four, with the same result, bit for bit
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <weft/weft.hpp>

#include "job.hpp"

namespace {

/// Fills `s`, or returns the exit status. Every rank reads the same command line; only rank 0
/// prints.
std::optional<int> parse(int argc, char** argv, bool talk, heat::settings& s) {
  CLI::App app("Lets the brightness of a picture flow like heat, on any number of processes.");
  app.add_option("picture", s.picture, "PGM, PPM (P2 P3 P5 P6) or PNG; each colour flows by itself")
      ->required();
  app.add_option("--steps", s.steps, "how long it flows")->capture_default_str();
  app.add_option("--rate", s.rate, "share of a difference that flows to a neighbour in a step")
      ->check(CLI::Range(0.0f, 0.25f))
      ->capture_default_str();
  app.add_option("out,--out", s.out, "where the result goes (default: <picture>-heat, here)");
  app.add_flag("--progress", s.progress, "show progress also where standard error is no terminal");
  app.add_flag("--check", s.check, "compare with what one process computes, bit for bit");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (talk) app.exit(e);
    return e.get_exit_code() == 0 ? 0 : 2;
  }
  if (s.out.empty()) s.out = s.picture.stem().string() + "-heat" + s.picture.extension().string();
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    weft::context ctx;
    weft::group world = ctx.world();
    heat::settings s;
    if (const auto status = parse(argc, argv, world.rank() == 0, s)) return *status;
    return weft::run(ctx, world.rank() == 0 ? heat::lead(world, s) : heat::follow(world));
  } catch (const std::exception& e) {
    fmt::print(stderr, "heat: {}\n", e.what());
    return 1;
  }
}
