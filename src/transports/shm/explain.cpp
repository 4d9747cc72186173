// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string>
#include <vector>

#include "transports/shm/transport.hpp"

namespace weft::transports::shm {

namespace {

std::string explain_stores(std::size_t from, std::size_t bytes) {
  if (!can_stream) return "ordinary stores, through the cache: others are built for x86 only";
  if (from == never_streamed) return "ordinary stores, through the cache";
  if (bytes < from) return fmt::format("ordinary stores: WEFT_SHM_STORES begins at {}", from);
  return fmt::format(
      "streaming stores, past the cache, in pieces of {} bytes and more: WEFT_SHM_STORES asks for "
      "it",
      from);
}

}  // namespace

std::string shm_transport::explain_frames(std::size_t size) const {
  if (size <= inline_bytes) return "header and payload share one cache line";
  std::string text = "the header is one cache line, the payload lies in the ring's bulk area";
  if (size >= smallest_streamed_from) text += ", by " + explain_stores(streamed_from_, size);
  return text;
}

std::vector<explained_way> shm_transport::explain_rest(const rest_question& q) const {
  if (q.wanted != rendezvous_scheme::automatic) return {};
  std::vector<explained_way> all;
  const std::string ways[] = {
      "pipelined copy: both sides copy through the ring, piece by piece",
      "direct copy: the receiver copies it out of the sender's shared memory, once",
      "CMA: the kernel copies it once, between the receiver and a sender that polls",
      "pipelined copy or CMA, whichever has measured faster"};
  const auto add = [&](std::string when, bool in_region, bool away) {
    fetch_facts known;
    known.way = way_;
    known.told = choose_exposure(way_, in_region);
    known.mapped = in_region;
    known.cma_works = q.cma;
    known.sender_computing = away;
    known.sender_has_progress_thread = q.has_progress_thread;
    const fetch_choice chosen = choose_fetch(known);
    all.push_back({std::move(when), ways[static_cast<int>(chosen.how)], chosen.why});
  };
  add("out of ordinary memory", false, false);
  add("out of ordinary memory, while the sender computes", false, true);
  if (all[0].way == all[1].way) all.pop_back();
  add("out of weft::shared_memory", true, false);
  all.push_back({"gathered from several pieces", ways[0], "a list of pieces has no one address"});
  return all;
}

}  // namespace weft::transports::shm
