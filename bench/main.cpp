// SPDX-License-Identifier: Apache-2.0
// weft-bench: what weft can do here, what the machine can do, and what others do. README.md.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "commands.hpp"
#include "compare/compare.hpp"
#include "raw/raw_command.hpp"

int main(int argc, char** argv) {
  using namespace weft::bench;
  CLI::App app("Measures weft between processes that it starts itself.");
  app.require_subcommand(1);
  int exit_code = 0;
  try {
    add_latency_command(app);
    add_rate_command(app);
    add_bandwidth_command(app);
    add_overlap_command(app);
    add_alltoall_command(app);
    add_idle_command(app);
    add_scale_command(app);
    add_connections_command(app);
    add_tax_command(app);
    add_rdma_command(app);
    add_tree_command(app);
    add_regcache_command(app);
    add_ladder_command(app);
    add_progress_command(app);
    add_layers_command(app);
    add_strangers_command(app);
    add_stream_command(app);
    add_policy_command(app);
    add_stripe_command(app);
    raw::add_raw_command(app);
    add_compare_command(app, {"dedicated", "polling"}, exit_code);
    add_mpi_command(app, exit_code);
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const std::exception& error) {
    fmt::print(stderr, "weft-bench: {}\n", error.what());
    return 1;
  }
  return exit_code;
}
