// SPDX-License-Identifier: Apache-2.0
#include "commands.hpp"

#include "compare/compare.hpp"

namespace weft::bench {

void add_commands(CLI::App& app, int& exit_code) {
  latency_command::add(app);
  window_commands::add_rate(app);
  window_commands::add_bandwidth(app);
  overlap_command::add(app);
  alltoall_command::add(app);
  barrier_command::add(app);
  idle_command::add(app);
  scale_command::add(app);
  connections_command::add(app);
  tax_command::add(app);
  eager_command::add(app);
  kinds_command::add(app);
  rdma_command::add(app);
  regcache_command::add(app);
  frames_command::add(app);
  progress_command::add(app);
  layers_command::add(app);
  instructions_command::add(app);
  bad_clients_command::add(app);
  access_command::add(app);
  calls_command::add(app);
  stream_command::add(app);
  policy_command::add(app);
  stripe_command::add(app);
  threads_command::add(app);
  values_command::add(app);
  large_command::add(app);
  loans_command::add(app);
  pieces_command::add(app);
  asio_command::add(app);
  raw_command::add(app);
  collective_command::add(app);
  sendrecv_command::add(app);
  serve_command::add(app);
#ifndef WEFT_WITHOUT_QDMA
  tree_command::add(app);
#endif
#ifndef WEFT_WITHOUT_VIPL
  vipl_command::add(app);
#endif
#ifndef WEFT_WITHOUT_VERBS
  ladder_command::add(app);
  device_command::add(app);
#endif
  add_compare_command(app, {"dedicated", "polling"}, exit_code);
  add_mpi_command(app, exit_code);
  add_collectives_command(app, exit_code);
  add_company_command(app, exit_code);
}

}  // namespace weft::bench
