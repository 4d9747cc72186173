// SPDX-License-Identifier: Apache-2.0
#include <weft/explain.hpp>

#include <algorithm>
#include <chrono>

#include <weft/coro/time.hpp>

#include "api/core/core.hpp"
#include "proto/select/select.hpp"

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

/// The first one by which this context reaches other processes.
const transports::transport& to_others(const detail::core& c) {
  for (const auto& one : c.transports())
    if (one.transport->reach(false).empty()) return *one.transport;
  throw error(errc::unsupported,
              "this context uses no transport to other processes; " + c.missing());
}

}  // namespace

std::vector<route> explain_routes(const context& ctx, std::size_t bytes, bool cma) {
  const detail::core& c = detail::core_of(ctx);
  const transports::transport& used = to_others(c);
  const options& o = c.chosen();
  const std::optional<std::size_t> fixed = o.experimental.fixed_credit;
  const std::int64_t credit = fixed ? proto::fixed_grant(*fixed) : proto::first_window;
  const transports::traits& t = used.traits();
  const std::size_t eager_limit = c.messenger().settings().eager_limit_over(t);
  const proto::explanation send =
      proto::explain_send(bytes, eager_limit, credit, t, o.experimental.eager_data);
  const std::string frames = used.explain_frames(bytes);

  std::vector<route> all;
  all.push_back({"always", frames.empty() ? send.way : send.way + "; " + frames, send.why});
  if (!proto::plan_send(bytes, eager_limit, credit).rendezvous) return all;
  const bool thread =
      o.progress == progress_mode::dedicated || o.progress == progress_mode::two_threads;
  const auto ways = used.explain_rest({bytes, o.experimental.rendezvous, cma, thread});
  for (const transports::explained_way& one : ways)
    all.push_back({one.when.empty() ? "the rest" : "the rest, " + one.when, one.way, one.why});
  if (ways.empty()) {
    const proto::explanation rest = proto::explain_payload(o.experimental.rendezvous);
    all.push_back({"the rest", rest.way, rest.why});
  }
  return all;
}

task<std::vector<candidate>> explain_peer(context& ctx, endpoint to) {
  detail::core& c = detail::core_of(ctx);
  proto::peer& peer = detail::internals::named_peer(to);
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
