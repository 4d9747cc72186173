// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/objects/event_queue.hpp"

#include <poll.h>

namespace weft::ofi {

fi_ops_eq event_queue::eq_ops{
    .size = sizeof(fi_ops_eq),
    .read = [](fid_eq*, std::uint32_t*, void*, std::size_t, std::uint64_t) -> ssize_t {
      return -FI_EAGAIN;
    },
    .readerr = [](fid_eq*, fi_eq_err_entry*, std::uint64_t) -> ssize_t { return -FI_EAGAIN; },
    .write = no,
    .sread = [](fid_eq*, std::uint32_t*, void*, std::size_t, int timeout,
                std::uint64_t) -> ssize_t {
      ::poll(nullptr, 0, timeout);
      return -FI_EAGAIN;
    },
    .strerror = [](fid_eq*, int, const void*, char*, std::size_t) -> const char* { return ""; },
};

event_queue::event_queue(fabric& of, void* context) noexcept
    : fid_eq{{FI_CLASS_EQ, context, &only_closes<event_queue, fid_eq>}, &eq_ops}, fabric_(of) {
  fabric_.used.add();
}

event_queue::~event_queue() { fabric_.used.remove(); }

int event_queue::open(fid_fabric* of, fi_eq_attr* attr, fid_eq** made, void* context) noexcept {
  if (attr && attr->wait_obj != FI_WAIT_NONE && attr->wait_obj != FI_WAIT_UNSPEC) return -FI_ENOSYS;
  return guarded([&] {
    *made = new event_queue(object<fabric>(of), context);
    return 0;
  });
}

}  // namespace weft::ofi
