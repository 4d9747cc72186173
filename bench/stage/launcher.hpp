// SPDX-License-Identifier: Apache-2.0
// Whether a launcher started this process as one of several, found without a context.
#pragma once

#include <optional>
#include <string>

namespace weft::bench {

struct launcher {
  std::string name;  ///< for messages: "weft-run", "mpirun", "srun"
  int place = 0;     ///< the number of this process among those of its host, if the launcher tells;
                     ///< else its rank
  int processes = 0;  ///< of the job; 0: the launcher does not tell without a context

  /// How to start so many processes.
  std::string start(unsigned count) const;
  /// The same for processes that did not find each other.
  std::string start_together(unsigned count) const;
};

/// The launcher of this process: weft-run, or one with PMIx; also those that tell a rank but have
/// no PMIx, under which a context is alone. Nothing: none.
std::optional<launcher> launched_by();

/// For a subcommand that several processes cannot do together.
/// \throws std::runtime_error when a launcher started this process as one of several
void refuse_launcher(const std::string& subcommand);

}  // namespace weft::bench
