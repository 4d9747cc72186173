// SPDX-License-Identifier: Apache-2.0
// Where libweft-fi.so is, and whether libfabric can use it here.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace weft::mpirun {

constexpr const char* provider_file = "libweft-fi.so";

/// The folders that may hold it, best first: the build tree or the installation that `self`, our
/// own program, belongs to, then those of `provider_path` (FI_PROVIDER_PATH).
std::vector<std::filesystem::path> provider_folders(const std::filesystem::path& self,
                                                    std::string_view provider_path);

/// The first of these folders that holds it. \throws std::runtime_error that names them all
std::filesystem::path find_provider(const std::vector<std::filesystem::path>& folders);

/// Whether libfabric takes the provider in `folder`: `fi_info -p weft` where it is installed, else
/// by loading it. \throws std::runtime_error with cause and cure
void check_provider(const std::filesystem::path& folder, const std::string& provider_path);

/// The program called `name` on PATH. \returns empty if there is none
std::string find_on_path(const std::string& name);

}  // namespace weft::mpirun
