// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/factory.hpp"

#include "transports/verbs/hardware/finder.hpp"
#include "transports/verbs/transport.hpp"

namespace weft::transports::verbs {

std::string explain_frame(std::size_t) {
  return "header and payload are one send, which the device takes from the caller's cache line if "
         "they are short, else from memory that it knows";
}

std::pair<std::string, std::string> explain_copy(std::size_t size) {
  if (size < transfers::least)
    return {"by the RDMA device, in frames",
            "copying it costs less than registering so little memory"};
  return {
      "written by the sender's RDMA device into the receiver's memory; in frames where memory "
      "cannot be registered, or a receive is of several pieces",
      "nobody copies it, and the news of its end goes right behind it"};
}

std::unique_ptr<transport> make(runtime::engine& e, const settings& s, std::string& why) {
  std::unique_ptr<device> found = find(s, why);
  if (!found) return nullptr;
  return std::make_unique<verbs_transport>(e, s, std::move(found));
}

}  // namespace weft::transports::verbs
