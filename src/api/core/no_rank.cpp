// SPDX-License-Identifier: Apache-2.0
#include "api/core/no_rank.hpp"

#include <errno.h>
#include <fmt/format.h>

namespace weft::detail {

namespace {

constexpr const char* other_launchers =
    WEFT_BUILT_WITH_PMIX ? ", or with `mpirun -n {0}` or `srun -n {0}`" : "";

std::string alone(peer_id rank) {
  const std::uint64_t enough = std::uint64_t{rank} + 1;
  return fmt::format(
      "there is no rank {}: no launcher started this process, so it is alone. Type `weft-run -n {} "
      "{}`{}",
      rank, enough, ::program_invocation_name, fmt::format(fmt::runtime(other_launchers), enough));
}

}  // namespace

error no_such_rank(core& c, peer_id rank, peer_id size) {
  std::string why;
  if (size != 1 || c.size() != 1 || c.job()->launched())
    why = fmt::format("there is no rank {} in a group of {}; its ranks are 0 to {}", rank, size,
                      size - 1);
  else if (c.chosen().standalone)
    why = fmt::format("there is no rank {}: options::standalone makes a context rank 0 of 1", rank);
  else
    why = alone(rank);
  return error(errc::invalid_argument, std::move(why));
}

}  // namespace weft::detail
