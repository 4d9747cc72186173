// SPDX-License-Identifier: Apache-2.0
#include <weft/explain.hpp>

#include "api/core.hpp"
#include "proto/select.hpp"
#include "transports/shm/factory.hpp"
#include "transports/tcp/factory.hpp"

namespace weft {

std::vector<route> explain_routes(const context& ctx, std::size_t bytes, bool cma) {
  const detail::core& c = ctx.core();
  const transports::transport* const shm = c.shm();
  const transports::transport* const used = shm ? shm : c.tcp();
  if (!used)
    throw error(errc::unsupported,
                "this context uses neither the transport shm nor tcp; " + c.missing());
  const options& o = c.chosen();
  const std::int64_t credit = proto::first_window;
  const transports::traits& t = used->traits();
  const proto::explanation send = proto::explain_send(bytes, o.eager_limit, credit, t);
  const proto::send_plan plan = proto::plan_send(bytes, o.eager_limit, credit);

  std::vector<route> all;
  if (!plan.rendezvous) {
    std::string way = send.way;
    if (bytes <= proto::longest_in_one_frame(t))
      way += "; " +
             (shm ? transports::shm::explain_frame(bytes) : transports::tcp::explain_frame(bytes));
    all.push_back({"always", std::move(way), send.why});
    return all;
  }
  all.push_back({"always", send.way, send.why});
  if (!shm) {
    all.push_back({"the rest", "by TCP, in frames of " + std::to_string(t.fragment) + " bytes",
                   "sent from where it is, and read to where the receive wants it"});
    return all;
  }
  const bool thread = o.progress == progress_mode::dedicated;
  for (auto& r : transports::shm::explain_large(*shm, cma, thread))
    all.push_back({"the rest, " + r.when, std::move(r.way), std::move(r.why)});
  return all;
}

}  // namespace weft
