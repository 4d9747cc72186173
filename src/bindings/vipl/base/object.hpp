// SPDX-License-Identifier: Apache-2.0
// What stands behind the handles of vipl.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <new>

#include <vipl.h>

#include <weft/error.hpp>

#include "bindings/vipl/base/object_storage.hpp"

namespace weft::vipl {

/// The beginning of each object: tells a handle of the wrong kind.
class object {
 public:
  enum class kind : std::uint32_t {
    none = 0,
    nic = 0x56490001,
    vi,
    completion_queue,
    protection_tag,
    incoming_request
  };

  explicit object(kind k) noexcept : kind_(k) {}
  object(const object&) = delete;
  object& operator=(const object&) = delete;
  ~object() { const_cast<volatile kind&>(kind_) = kind::none; }

  /// \return null for a handle that is null or of another kind
  template <class T>
  static T* at(VIP_PVOID handle) noexcept {
    object* const o = static_cast<object*>(handle);
    return o && o->kind_ == T::its_kind ? static_cast<T*>(o) : nullptr;
  }
  VIP_PVOID handle() noexcept { return this; }

 private:
  kind kind_;
};

/// An object of that kind. A handle that is used after its end finds no kind, or a later object of
/// the same kind: the storage serves nothing else.
template <object::kind Its>
class object_of : public object {
 public:
  static constexpr kind its_kind = Its;
  static void* operator new(std::size_t size) { return storage_.take(size); }
  static void operator delete(void* p, std::size_t size) noexcept { storage_.put(p, size); }

 protected:
  object_of() noexcept : object(Its) {}
  ~object_of() = default;

 private:
  static inline object_storage storage_;
};

/// A segment of a descriptor, which may go on behind the two that vipl.h declares.
inline const VIP_DESCRIPTOR_SEGMENT& segment_of(const VIP_DESCRIPTOR& d, unsigned i) noexcept {
  const VIP_DESCRIPTOR_SEGMENT* const first = d.DS;
  return first[i];
}

constexpr VIP_RETURN code_of_kind(errc kind) noexcept {
  switch (kind) {
    case errc::timed_out:
    case errc::stopped:
      return VIP_TIMEOUT;
    case errc::unreachable:
    case errc::peer_lost:
    case errc::closed:
      return VIP_NOT_REACHABLE;
    case errc::invalid_argument:
      return VIP_INVALID_PARAMETER;
    default:
      return VIP_ERROR_RESOURCE;
  }
}

/// Calls `f` and turns exceptions into codes of vipl.h.
template <class F>
VIP_RETURN guarded(F f) noexcept {
  try {
    return f();
  } catch (const error& e) {
    return code_of_kind(e.kind());
  } catch (const std::exception&) {
    return VIP_ERROR_RESOURCE;
  }
}

}  // namespace weft::vipl
