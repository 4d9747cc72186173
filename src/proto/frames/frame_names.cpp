// SPDX-License-Identifier: Apache-2.0
#include "proto/frames/frame_names.hpp"

#include <array>

namespace weft::proto {

namespace {

constexpr std::array<const char*, 26> names{
    "invalid",  "eager",   "more",      "rts",       "cts",      "data",      "fin_ack",
    "matched",  "cancel",  "cancelled", "credit",    "bye",      "stop_data", "ordered",
    "arrived",  "fin",     "signal",    "put",       "get",      "update",    "got",
    "accessed", "granted", "released",  "call_stop", "call_more"};
static_assert(static_cast<std::size_t>(frame_kind::call_more) + 1 == names.size());

}  // namespace

runtime::call_tree::subject subject_of(peer_id peer, const frame_header& h,
                                       const frame_extension* x) noexcept {
  runtime::call_tree::subject s{.peer = peer,
                                .kind = h.kind < names.size() ? names[h.kind] : names[0]};
  const auto kind = static_cast<frame_kind>(h.kind);
  const bool begins = kind == frame_kind::eager || kind == frame_kind::rts;
  if (begins) s.tag = h.tag;
  if (begins || h.size != 0) s.bytes = begins && x ? x->a & size_mask : h.size;
  return s;
}

runtime::call_tree::subject subject_of(const detail::match_operation& op) noexcept {
  runtime::call_tree::subject s;
  if (op.tag.exact()) s.tag = op.tag.value;
  if (op.from) s.peer = op.from_id;
  if (!op.probe() && !op.sized) s.bytes = static_cast<const recv_operation&>(op).into.size();
  return s;
}

}  // namespace weft::proto
