// SPDX-License-Identifier: Apache-2.0
// Open MPI's mpirun: where it is, and of which version. 4.1 and 5 need different settings.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft::mpirun {

/// The releases whose settings command.cpp knows.
enum class series { v4_1, v5_0 };

/// \param asked what the user names; empty: mpirun.openmpi, else mpirun, on PATH
/// \throws std::runtime_error if there is none
std::string find_mpirun(const std::string& asked);

/// `mpirun --version`. Runs from the constructor on: it takes up to 20 ms, in which the caller has
/// other work.
class version_question {
 public:
  explicit version_question(const std::string& mpirun);
  std::string answer();

 private:
  struct closer {
    void operator()(std::FILE* pipe) const noexcept { ::pclose(pipe); }
  };
  std::unique_ptr<std::FILE, closer> pipe_;
};

struct chosen_series {
  series settings = series::v5_0;
  std::string remark;  ///< for the user; empty if this version is known
};

/// The settings for the version in the words of `mpirun --version`, or those nearest to it.
/// \throws std::runtime_error with cause and cure if they are not Open MPI's words
chosen_series series_for(std::string_view said, const std::string& mpirun);

/// A parameter of Open MPI and its value.
using setting = std::pair<const char*, const char*>;

/// What makes messages, and with `one_sided` the one-sided calls too, go over weft. docs/mpi.md
std::vector<setting> settings_for(series open_mpi, bool one_sided);

}  // namespace weft::mpirun
