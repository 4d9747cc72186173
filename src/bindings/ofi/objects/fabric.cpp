// SPDX-License-Identifier: Apache-2.0
#include "bindings/ofi/objects/fabric.hpp"

#include "bindings/ofi/objects/completion_queue.hpp"
#include "bindings/ofi/objects/domain.hpp"
#include "bindings/ofi/objects/event_queue.hpp"

namespace weft::ofi {

fi_ops_fabric fabric::fabric_ops{
    .size = sizeof(fi_ops_fabric),
    .domain = &domain::open,
    .passive_ep = no,
    .eq_open = &event_queue::open,
    .wait_open = no,
    .trywait = &fabric::try_wait,
    .domain2 =
        [](fid_fabric* of, fi_info* info, fid_domain** made, std::uint64_t flags, void* context) {
          return flags != 0 ? -FI_EBADFLAGS : domain::open(of, info, made, context);
        },
};

fabric::fabric(void* context) noexcept
    : fid_fabric{{FI_CLASS_FABRIC, context, &only_closes<fabric, fid_fabric>},
                 &fabric_ops,
                 FI_VERSION(0, 0)} {}

int fabric::open(fi_fabric_attr* attr, fid_fabric** made, void* context) noexcept {
  return guarded([&] {
    auto* const f = new fabric(context);
    f->api_version = attr->api_version;
    *made = f;
    return 0;
  });
}

int fabric::try_wait(fid_fabric* /*fabric*/, fid_t* waited_for, int count) noexcept {
  for (int i = 0; i != count; ++i) {
    if (waited_for[i]->fclass != FI_CLASS_CQ) continue;
    if (!object_of<completion_queue, fid_cq>(waited_for[i]).may_sleep()) return -FI_EAGAIN;
  }
  return 0;
}

}  // namespace weft::ofi
