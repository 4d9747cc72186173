// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/hardware/finder.hpp"

#include <fmt/format.h>

#include <vector>

#include "transports/verbs/hardware/addresses.hpp"
#include "transports/verbs/hardware/hardware.hpp"

namespace weft::transports::verbs {

namespace {

constexpr std::size_t most_addresses = 1024;

/// Finds the first address in the order of trial that works. \return whether one does
bool find_address(hardware& h, const settings& s, std::string& why) {
  std::vector<ibv_gid_entry> all(most_addresses);
  const ssize_t n = ibv_query_gid_table(&h.context(), all.data(), all.size(), 0);
  all.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
  bool any = false;
  for (const ibv_gid_entry& e : in_order_of_trial(all, h.port())) {
    if (s.gid_index && *s.gid_index != e.gid_index) continue;
    any = true;
    h.use(e);
    const std::string trouble = h.try_itself();
    if (trouble.empty()) return true;
    why += fmt::format("{}; ", h.describe() + ": " + trouble);
  }
  if (!any)
    why +=
        fmt::format("{} has no address {}; ", ibv_get_device_name(h.context().device),
                    s.gid_index ? fmt::format("with index {} (WEFT_VERBS_GID_INDEX)", *s.gid_index)
                                : "(its network interface may have none)");
  return false;
}

/// One where the device does not say.
std::uint8_t ports_of(ibv_device& which) noexcept {
  const std::unique_ptr<ibv_context, freed_by<&ibv_close_device>> opened(ibv_open_device(&which));
  ibv_device_attr limits{};
  return opened && ibv_query_device(opened.get(), &limits) == 0 ? limits.phys_port_cnt
                                                                : std::uint8_t{1};
}

std::unique_ptr<hardware> find_port(ibv_device& which, const settings& s, std::string& why) {
  for (std::uint8_t port = 1, ports = ports_of(which); port <= ports; ++port) {
    try {
      auto opened = std::make_unique<hardware>(which, port);
      if (find_address(*opened, s, why)) return opened;
    } catch (const error& e) {
      why += e.what() + std::string("; ");
    }
  }
  return nullptr;
}

/// Without ibv_fork_init a process that forks would lose its registered memory. Kernels from 5.12
/// on copy such pages at the fork, and need no call. The call is for the whole process, and
/// libibverbs does not guard against two threads that make it at once.
bool fork_is_safe() {
  static const bool safe = ibv_is_fork_initialized() == IBV_FORK_UNNEEDED || ibv_fork_init() == 0;
  return safe;
}

}  // namespace

std::unique_ptr<device> find(const settings& s, std::string& why) {
  why.clear();
  if (!fork_is_safe()) {
    why =
        "libibverbs cannot make fork() safe any more, because this program uses it already; call "
        "ibv_fork_init first, or set IBV_FORK_SAFE=1";
    return nullptr;
  }
  int n = 0;
  struct freed {
    void operator()(ibv_device** list) const noexcept { ibv_free_device_list(list); }
  };
  const std::unique_ptr<ibv_device*, freed> list(ibv_get_device_list(&n));
  bool any = false;
  for (int i = 0; list && i != n; ++i) {
    ibv_device& one = *list.get()[i];
    if (!s.device.empty() && s.device != ibv_get_device_name(&one)) continue;
    any = true;
    if (auto found = find_port(one, s, why)) return found;
  }
  if (!any && !s.device.empty())
    why = fmt::format(
        "there is no RDMA device {} (WEFT_VERBS_DEVICE); ibv_devices lists those "
        "that there are",
        s.device);
  else if (!any)
    why = "there is no RDMA device here, or no driver of libibverbs for it (ibverbs-providers)";
  while (why.ends_with(' ') || why.ends_with(';')) why.pop_back();
  return nullptr;
}

}  // namespace weft::transports::verbs
