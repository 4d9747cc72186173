// SPDX-License-Identifier: Apache-2.0
#include <weft/explain.hpp>

#include "api/core.hpp"
#include "proto/select.hpp"
#include "transports/shm/factory.hpp"

namespace weft {

std::vector<route> explain_routes(const context& ctx, std::size_t bytes, bool cma) {
  const detail::core& c = ctx.core();
  const transports::transport* shm = c.shm();
  if (!shm)
    throw error(errc::unsupported, "this context does not use the transport shm; " + c.missing());
  const options& o = c.chosen();
  const std::int64_t credit = proto::first_window;
  const proto::explanation send = proto::explain_send(bytes, o.eager_limit, credit, shm->traits());
  const proto::send_plan plan = proto::plan_send(bytes, o.eager_limit, credit);

  std::vector<route> all;
  if (!plan.rendezvous) {
    std::string way = send.way;
    if (bytes <= proto::longest_in_one_frame(shm->traits()))
      way += "; " + transports::shm::explain_frame(bytes);
    all.push_back({"always", std::move(way), send.why});
    return all;
  }
  all.push_back({"always", send.way, send.why});
  const bool thread = o.progress == progress_mode::dedicated;
  for (auto& r : transports::shm::explain_large(*shm, cma, thread))
    all.push_back({"the rest, " + r.when, std::move(r.way), std::move(r.why)});
  return all;
}

}  // namespace weft
