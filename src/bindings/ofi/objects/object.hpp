// SPDX-License-Identifier: Apache-2.0
// The common part of libfabric's objects. libfabric(7), fi_provider(7).
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <sys/types.h>

#include <atomic>
#include <new>
#include <weft/error.hpp>

namespace weft::ofi {

/// Stands for a function that this provider does not have: applications call without a check.
struct not_supported {
  template <class Result, class... Arguments>
  using function = Result (*)(Arguments...);

  template <class Result, class... Arguments>
  constexpr operator function<Result, Arguments...>() const noexcept {  // NOLINT: it stands for it
    return [](Arguments...) -> Result { return static_cast<Result>(-FI_ENOSYS); };
  }
};
inline constexpr not_supported no{};

/// The objects are derived from libfabric's structs, each of which begins with its `fid`.
template <class Object, class Fid>
Object& object(Fid* f) noexcept {
  return static_cast<Object&>(*f);
}
template <class Object, class Base>
Object& object_of(fid_t f) noexcept {
  return static_cast<Object&>(*reinterpret_cast<Base*>(f));
}

/// Counts the objects that use an object, which cannot be closed before them.
class users {
 public:
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  void remove() noexcept { count_.fetch_sub(1, std::memory_order_relaxed); }
  bool any() const noexcept { return count_.load(std::memory_order_relaxed) != 0; }

 private:
  std::atomic<int> count_{0};
};

/// \return a code of fi_errno.h, positive
int errno_of(errc e) noexcept;

/// A sentence for people, in libfabric's log (FI_LOG_LEVEL=warn).
void warn(const char* text) noexcept;

/// Calls `f`, whose result is 0 or a negative code, and lets no exception out.
template <class F>
int guarded(F f) noexcept {
  try {
    return f();
  } catch (const error& e) {
    warn(e.what());
    return -errno_of(e.kind());
  } catch (const std::bad_alloc&) {
    return -FI_ENOMEM;
  } catch (const std::exception& e) {
    warn(e.what());
    return -FI_EOTHER;
  }
}

/// fi_close of an object without users.
template <class Object>
int close(Object& it) noexcept {
  if (it.used.any()) return -FI_EBUSY;
  delete &it;
  return 0;
}

/// The functions of an object that can be closed and nothing else.
template <class Object, class Base>
inline fi_ops only_closes{
    .size = sizeof(fi_ops),
    .close = [](fid_t f) { return close(object_of<Object, Base>(f)); },
    .bind = no,
    .control = no,
    .ops_open = no,
    .tostr = no,
    .ops_set = no,
};

/// Of the functions for connections, an endpoint without connections has one: it tells its address.
inline constexpr fi_ops_cm only_names(int (*get_name)(fid_t, void*, std::size_t*)) noexcept {
  return {.size = sizeof(fi_ops_cm),
          .setname = no,
          .getname = get_name,
          .getpeer = no,
          .connect = no,
          .listen = no,
          .accept = no,
          .reject = no,
          .shutdown = no,
          .join = no};
}

}  // namespace weft::ofi
