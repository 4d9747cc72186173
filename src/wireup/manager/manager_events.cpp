// SPDX-License-Identifier: Apache-2.0
#include "wireup/manager/manager_events.hpp"

namespace weft::wireup {

void manager_events::on_connection_request(std::uint64_t /*listener_number*/,
                                           std::unique_ptr<incoming_request> r) {
  r->reject("it accepts no connection requests");
}

void manager_events::on_dump_request(dump_form /*form*/, std::function<void(std::string)> answer) {
  answer({});
}

}  // namespace weft::wireup
