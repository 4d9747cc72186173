// SPDX-License-Identifier: Apache-2.0
#include "bindings/slim_libfabric/weft_provider.hpp"

#include <dlfcn.h>
#include <rdma/providers/fi_log.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

namespace weft::slim {

namespace {

constexpr std::string_view name = "weft";

fi_provider* load_from(std::string_view folder) {
  if (folder.starts_with('@')) folder.remove_prefix(1);  // libfabric's mark of preference
  if (folder.empty()) return nullptr;
  const std::string file = std::string(folder) + "/libweft-fi.so";
  void* const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    FI_WARN(nullptr, FI_LOG_CORE, "%s\n", ::dlerror());
    return nullptr;
  }
  using entry = fi_provider* (*)();
  const auto begin = reinterpret_cast<entry>(::dlsym(library, "fi_prov_ini"));
  return begin ? begin() : nullptr;
}

fi_provider* find() noexcept {
  const char* const path = std::getenv("FI_PROVIDER_PATH");
  std::string_view rest = path ? path : "";
  try {
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      if (fi_provider* const found = load_from(rest.substr(0, end))) return found;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
  return nullptr;
}

struct loaded {
  fi_provider* provider = find();
  ~loaded() {
    if (provider && provider->cleanup) provider->cleanup();
  }
};

}  // namespace

fi_provider* weft_provider() noexcept {
  static const loaded it;
  return it.provider;
}

bool means_weft(const char* provider) noexcept { return !provider || provider == name; }

}  // namespace weft::slim
