// SPDX-License-Identifier: Apache-2.0
// Finds libweft-fi.so, and tests whether libfabric can use it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weft::mpirun {

constexpr const char* provider_file = "libweft-fi.so";

/// The folders that may hold it, best first: the build tree or the installation of `self`, the
/// running program, then those of `provider_path` (FI_PROVIDER_PATH).
std::vector<std::filesystem::path> provider_folders(const std::filesystem::path& self,
                                                    std::string_view provider_path);

/// The first of these folders that holds it. \throws std::runtime_error that names them all
std::filesystem::path find_provider(const std::vector<std::filesystem::path>& folders);

/// The folder of the slim libfabric that belongs to the provider in `folder`.
/// \returns empty if there is none
std::filesystem::path slim_libfabric_of(const std::filesystem::path& folder);

/// The library that puts Open MPI 4 right, which belongs to the provider in `folder`.
/// \throws std::runtime_error with cause and cure if there is none
std::filesystem::path library_before_open_mpi_4(const std::filesystem::path& folder);

/// The library beside the provider that has MPI's short collectives.
/// \throws std::runtime_error there is none
std::filesystem::path library_of_collectives(const std::filesystem::path& folder);

/// Tests that the system's libfabric accepts the provider in `folder`: by `fi_info -p weft` if that
/// is installed, else by loading the provider. \throws std::runtime_error with cause and cure
void check_provider(const std::filesystem::path& folder, const std::string& provider_path);

/// Tests the same of the slim libfabric in folder `slim`, in this process, which keeps it loaded if
/// it works.
/// \throws std::runtime_error with cause and cure
void check_provider_by(const std::filesystem::path& slim, const std::filesystem::path& folder,
                       const std::string& provider_path);

/// The program called `name` on PATH. \returns empty if there is none
std::string find_on_path(const std::string& name);

}  // namespace weft::mpirun
