// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "transports/qdma/transport.hpp"

namespace weft::transports::qdma {

std::string qdma_transport::explain_frames(std::size_t size) const {
  constexpr std::size_t in_head = head_bytes - sizeof(frame_header);
  constexpr std::size_t in_slot = slot_bytes - sizeof(frame_header);
  if (size <= in_head) return "header and payload share one cache line of the receiver's queue";
  if (size <= in_slot) return "header and payload share a slot of the receiver's queue";
  return "the header is in a slot of the receiver's queue, the payload in the sender's stage, from "
         "which the receiver copies it";
}

std::vector<explained_way> qdma_transport::explain_rest(const rest_question& q) const {
  const bool automatic = q.wanted == rendezvous_scheme::automatic;
  if (q.wanted == rendezvous_scheme::frames) return {};
  std::string end = ends_.direct()
                        ? fmt::format(
                              "up to {} bytes at once, in the step that begins the copy; "
                              "more in slices of that size, one in a pass",
                              transfers::slice)
                        : "in slices, in passes; the end of the copy is a message to the queue "
                          "that WEFT_QDMA_COPY_COMPLETION names";
  const std::string once = q.wanted == rendezvous_scheme::put
                               ? "the sender writes it into the receiver's memory"
                               : "the receiver reads it out of the sender's memory";
  const std::string frames = "in frames, through the stage: both sides copy at the same time";
  std::vector<explained_way> all;
  if (automatic) {
    all.push_back({"out of memory of the process's own", frames,
                   "the kernel's copy takes longer than two through the stage"});
    if (q.cma && !q.has_progress_thread)
      all.push_back({"the same, while the sender computes", "one copy by the kernel: " + once,
                     "the sender has no progress thread that would copy its half; " + end});
    all.push_back({"out of memory of the device (weft/qdma.hpp)", "one copy: " + once,
                   "the memory is mapped by both; " + end});
  } else if (q.cma) {
    all.push_back({"", "one copy by the kernel: " + once, end});
  } else {
    all.push_back({"out of memory of the device (weft/qdma.hpp)", "one copy: " + once, end});
    all.push_back({"out of memory of the process's own", frames,
                   "the kernel lets neither process read the other's memory"});
  }
  return all;
}

}  // namespace weft::transports::qdma
