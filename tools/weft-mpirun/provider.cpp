// SPDX-License-Identifier: Apache-2.0
#include "provider.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string_view>

namespace weft::mpirun {

namespace fs = std::filesystem;

namespace {

constexpr const char* slim_libfabric = "libfabric.so.1";

void split(std::string_view list, std::vector<fs::path>& into) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(':'), list.size());
    std::string_view folder = list.substr(0, end);
    if (folder.starts_with('@')) folder.remove_prefix(1);  // libfabric's mark of preference
    if (!folder.empty()) into.emplace_back(folder);
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

/// Whether `fi_info -p weft` finds the provider; its output is ignored.
bool fi_info_finds_it(const std::string& program, const std::string& provider_path) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("no process for fi_info: the limit of them is reached");
  if (child == 0) {
    const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (const int fd : {0, 1, 2}) ::dup2(nothing, fd);
    ::setenv("FI_PROVIDER_PATH", provider_path.c_str(), 1);
    ::execl(program.c_str(), program.c_str(), "-p", "weft", nullptr);
    ::_exit(127);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// libfabric does not report a library that it cannot load; the dynamic linker does.
void load(const fs::path& file) {
  void* library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr)
    throw std::runtime_error(
        fmt::format("{} cannot be loaded: {}. Is libfabric1 installed, and weft's own libraries?",
                    file.string(), ::dlerror()));
  const bool provider = ::dlsym(library, "fi_prov_ini") != nullptr;
  ::dlclose(library);
  if (!provider)
    throw std::runtime_error(fmt::format(
        "{} is no libfabric provider (it has no fi_prov_ini): install weft again", file.string()));
}

}  // namespace

std::vector<fs::path> provider_folders(const fs::path& self, std::string_view provider_path) {
  const fs::path prefix = self.parent_path().parent_path();
  std::vector<fs::path> all;
  for (const char* below :
       {"lib", "src/bindings/ofi", WEFT_LIBDIR, WEFT_LIBDIR "/libfabric", "lib/libfabric"})
    if (std::find(all.begin(), all.end(), prefix / below) == all.end())
      all.push_back(prefix / below);
  split(provider_path, all);
  return all;
}

fs::path find_provider(const std::vector<fs::path>& folders) {
  std::string looked;
  for (const fs::path& folder : folders) {
    std::error_code ignored;
    if (fs::exists(folder / provider_file, ignored)) return fs::absolute(folder).lexically_normal();
    looked += "\n  " + folder.string();
  }
  throw std::runtime_error(fmt::format(
      "{} was not found. Name its folder with --provider, or run without weft with --default. "
      "Looked in:{}",
      provider_file, looked));
}

void check_provider(const fs::path& folder, const std::string& provider_path) {
  const std::string fi_info = find_on_path("fi_info");
  if (!fi_info.empty() && fi_info_finds_it(fi_info, provider_path)) return;
  load(folder / provider_file);
  if (!fi_info.empty())
    throw std::runtime_error(
        fmt::format("{} can be loaded, but libfabric does not offer it. It may say why:\n"
                    "  FI_PROVIDER_PATH={} FI_LOG_LEVEL=info fi_info -p weft",
                    (folder / provider_file).string(), provider_path));
}

fs::path slim_libfabric_of(const fs::path& folder) {
  std::error_code ignored;
  const fs::path slim = folder / "slim";
  return fs::exists(slim / slim_libfabric, ignored) ? slim : fs::path();
}

namespace {

fs::path existing(const fs::path& file, std::string_view otherwise) {
  std::error_code ignored;
  if (fs::exists(file, ignored)) return file;
  throw std::runtime_error(fmt::format("{} is missing{}", file.string(), otherwise));
}

}  // namespace

fs::path library_before_open_mpi_4(const fs::path& folder) {
  return existing(folder / "libweft-open-mpi-4.so",
                  ", without which Open MPI 4 would send wrong data: install weft again");
}

fs::path library_of_collectives(const fs::path& folder) {
  return existing(folder / "libweft-mpi-collectives.so",
                  ": install weft again, or use --collectives=mpi");
}

void check_provider_by(const fs::path& slim, const fs::path& folder,
                       const std::string& provider_path) {
  ::setenv("FI_PROVIDER_PATH", provider_path.c_str(), 1);
  struct closer {
    void operator()(void* library) const noexcept { ::dlclose(library); }
  };
  std::unique_ptr<void, closer> library(
      ::dlopen((slim / slim_libfabric).c_str(), RTLD_NOW | RTLD_LOCAL));
  if (!library)
    throw std::runtime_error(
        fmt::format("{} cannot be loaded: {}", (slim / slim_libfabric).string(), ::dlerror()));
  load(folder / provider_file);  // after the slim libfabric, which it is linked with from now on
  // This program is built without libfabric's headers, too.
  constexpr std::uint32_t version = 1 << 16 | 5;
  using get_info = int(std::uint32_t, const char*, const char*, std::uint64_t, const void*, void**);
  using free_info = void(void*);
  auto* const ask = reinterpret_cast<get_info*>(::dlsym(library.get(), "fi_getinfo"));
  auto* const free = reinterpret_cast<free_info*>(::dlsym(library.get(), "fi_freeinfo"));
  void* info = nullptr;
  if (ask == nullptr || free == nullptr || ask(version, nullptr, nullptr, 0, nullptr, &info) != 0)
    throw std::runtime_error(fmt::format(
        "{} does not offer {}: do they belong to the same version of weft? FI_LOG_LEVEL=warn may "
        "tell more",
        (slim / slim_libfabric).string(), (folder / provider_file).string()));
  free(info);
  static_cast<void>(library.release());
}

std::string find_on_path(const std::string& name) {
  if (name.find('/') != name.npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::vector<fs::path> folders;
  split(path == nullptr ? "/usr/bin:/bin" : path, folders);
  for (const fs::path& folder : folders)
    if (const fs::path file = folder / name; ::access(file.c_str(), X_OK) == 0)
      return file.string();
  return "";
}

}  // namespace weft::mpirun
