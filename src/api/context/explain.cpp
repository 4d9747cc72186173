// SPDX-License-Identifier: Apache-2.0
#include <weft/explain.hpp>

#include <algorithm>
#include <chrono>

#include <weft/coro/time.hpp>

#include "api/core/core.hpp"
#include "proto/select/select.hpp"
#include "transports/shm/factory.hpp"
#include "transports/tcp/factory.hpp"
#include "transports/verbs/factory.hpp"

namespace weft {

namespace {

using outcome = candidate::outcome;

candidate candidate_of(const detail::core& c, const std::string& name,
                       const std::vector<connections::transport_attempt>& tried,
                       const std::string& described) {
  // A transport may have several links to a peer: one that works is enough.
  std::string trouble;
  for (const auto& one : tried) {
    if (one.transport != name) continue;
    if (one.trouble.empty()) return {name, outcome::chosen, described};
    trouble += (trouble.empty() ? "" : "; ") + one.trouble;
  }
  if (!trouble.empty()) return {name, outcome::refused, trouble};
  for (const auto& one : c.transports().excluded())
    if (one.name == name) return {name, outcome::not_used, one.reason};
  const auto& wanted = c.chosen().transports;
  if (std::find(wanted.begin(), wanted.end(), name) == wanted.end())
    return {name, outcome::not_used, "not in WEFT_TRANSPORTS"};
  return {name, outcome::not_tried, "one works that comes before it in WEFT_TRANSPORTS"};
}

}  // namespace

std::vector<route> explain_routes(const context& ctx, std::size_t bytes, bool cma) {
  const detail::core& c = ctx.core();
  const transports::transport* const shm = c.shm();
  const transports::transport* const verbs = c.verbs();
  const transports::transport* const used = shm ? shm : verbs ? verbs : c.tcp();
  if (!used)
    throw error(errc::unsupported,
                "this context uses none of the transports shm, verbs and tcp; " + c.missing());
  const options& o = c.chosen();
  const std::optional<std::size_t> fixed = o.experimental.fixed_credit;
  const std::int64_t credit = fixed ? proto::fixed_grant(*fixed) : proto::first_window;
  const transports::traits& t = used->traits();
  const std::size_t eager_limit = c.messenger().settings().eager_limit_over(t);
  const proto::explanation send =
      proto::explain_send(bytes, eager_limit, credit, t, o.experimental.eager_data);
  const proto::send_plan plan = proto::plan_send(bytes, eager_limit, credit);

  std::vector<route> all;
  if (!plan.rendezvous) {
    std::string way = send.way;
    if (bytes <= proto::longest_in_one_frame(t))
      way += "; " + (shm     ? transports::shm::explain_frame(bytes)
                     : verbs ? transports::verbs::explain_frame(bytes)
                             : transports::tcp::explain_frame(bytes));
    all.push_back({"always", std::move(way), send.why});
  } else {
    all.push_back({"always", send.way, send.why});
  }
  if (shm && bytes >= smallest_streamed_from)
    all.push_back({"into the ring", transports::shm::explain_stores(*shm, bytes), "docs/adr/0042"});
  if (!plan.rendezvous) return all;
  if (o.experimental.receiver_first && bytes > eager_limit &&
      proto::follows_unasked(o.experimental.rendezvous, t)) {
    const proto::explanation early = proto::explain_early();
    all.push_back({"the rest, if its receive waits, and the sender knows", early.way, early.why});
  }
  if (o.experimental.rendezvous != rendezvous_scheme::automatic &&
      (shm || verbs || o.experimental.rendezvous == rendezvous_scheme::frames)) {
    const proto::explanation rest = proto::explain_payload(o.experimental.rendezvous);
    all.push_back({"the rest", rest.way, rest.why});
    return all;
  }
  if (!shm && verbs) {
    auto [way, why] = transports::verbs::explain_copy(bytes);
    all.push_back({"the rest", std::move(way), std::move(why)});
    return all;
  }
  if (!shm) {
    auto [way, why] = transports::tcp::explain_rest(bytes);
    all.push_back({"the rest", std::move(way), std::move(why)});
    return all;
  }
  const bool thread =
      o.progress == progress_mode::dedicated || o.progress == progress_mode::two_threads;
  for (auto& r : transports::shm::explain_copy(*shm, cma, thread))
    all.push_back({"the rest, " + r.when, std::move(r.way), std::move(r.why)});
  return all;
}

task<std::vector<candidate>> explain_peer(context& ctx, endpoint to) {
  detail::core& c = ctx.core();
  proto::peer& peer = to.peer();
  std::vector<connections::transport_attempt> tried;
  for (bool known = false; !known;) {
    {
      const runtime::engine::holder hold(c.engine());
      peer.connection().want_link();
      tried = c.connections().attempts(peer);
      known = peer.now() != proto::peer::state::connecting;
      if (known && tried.empty()) throw error(peer.why(), peer.detail());
    }
    if (!known) co_await sleep_for(std::chrono::milliseconds{1});
  }
  const std::string described = to.describe();
  std::vector<std::string> names = c.chosen().transports;
  for (const auto& name : options{}.transports)
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  std::vector<candidate> all;
  for (const auto& name : names) all.push_back(candidate_of(c, name, tried, described));
  co_return all;
}

}  // namespace weft
