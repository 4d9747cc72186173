// SPDX-License-Identifier: Apache-2.0
// The entry point by which libfabric finds the provider in libweft-fi.so.
#include <rdma/providers/fi_log.h>

#include <weft/external_loop.hpp>

#include "bindings/ofi/objects/attributes.hpp"
#include "bindings/ofi/objects/fabric.hpp"

namespace weft::ofi {

namespace {

/// libfabric keeps the object, and writes into it, as long as the library is loaded.
fi_provider& this_provider() noexcept {
  static fi_provider provider{
      .version = provider_version,
      .fi_version = fi_version(),  // of the loading library: newer ones require their own version
      .context = {},
      .name = provider_name,
      .getinfo = &get_info,
      .fabric = &fabric::open,
      // For endpoints that were not closed. The code stays mapped for their threads (-z nodelete).
      .cleanup = [] { park_threads(); },
  };
  return provider;
}

}  // namespace

void warn(const char* text) noexcept { FI_WARN(&this_provider(), FI_LOG_CORE, "%s\n", text); }

int errno_of(errc e) noexcept {
  switch (e) {
    case errc::ok:
      return 0;
    case errc::stopped:
      return FI_ECANCELED;
    case errc::timed_out:
      return FI_ETIMEDOUT;
    case errc::peer_lost:
      return FI_ECONNRESET;
    case errc::closed:
      return FI_ESHUTDOWN;
    case errc::refused:
      return FI_ECONNREFUSED;
    case errc::truncated:
      return FI_ETRUNC;
    case errc::unreachable:
      return FI_EHOSTUNREACH;
    case errc::invalid_argument:
      return FI_EINVAL;
    case errc::out_of_memory:
      return FI_ENOMEM;
    case errc::unsupported:
      return FI_ENOSYS;
    case errc::protocol_error:
      return FI_EIO;
    case errc::system:
      break;
  }
  return FI_EOTHER;
}

}  // namespace weft::ofi

extern "C" __attribute__((visibility("default"))) fi_provider* fi_prov_ini() {
  return &weft::ofi::this_provider();
}
