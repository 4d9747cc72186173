// SPDX-License-Identifier: Apache-2.0
#include "transports/verbs/factory.hpp"

#include <weft/options.hpp>

#include "transports/verbs/hardware/finder.hpp"
#include "transports/verbs/transport.hpp"

namespace weft::transports::verbs {

std::unique_ptr<transport> make(services& e, const settings& s, std::string& why) {
  std::unique_ptr<device> found = find(s, why);
  if (!found) return nullptr;
  return std::make_unique<verbs_transport>(e, s, std::move(found));
}

factory kind() {
  return {"verbs", [](services& e, const options& o, std::string& why) {
            return make(e,
                        {o.verbs_device, o.verbs_gid_index, o.peer_timeout, o.regions,
                         o.experimental.verbs_eager},
                        why);
          }};
}

}  // namespace weft::transports::verbs
