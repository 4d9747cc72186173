// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/factory.hpp"

#include "transports/verbs/finder.hpp"
#include "transports/verbs/transport.hpp"

namespace weft::transports::verbs {

std::string explain_frame(std::size_t) {
  return "header and payload are one send, which the device takes from the caller's cache line if "
         "they are short, else from memory that it knows";
}

std::unique_ptr<transport> make(runtime::engine& e, const settings& s, std::string& why) {
  std::unique_ptr<device> found = find(s, why);
  if (!found) return nullptr;
  return std::make_unique<verbs_transport>(e, s, std::move(found));
}

}  // namespace weft::transports::verbs
