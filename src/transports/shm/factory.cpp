// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/factory.hpp"

#include <random>
#include <string>

#include "transports/shm/read_policy.hpp"
#include "transports/shm/select.hpp"
#include "transports/shm/transport.hpp"

namespace weft::transports::shm {

std::string probe() {
  try {
    runtime::map_own(runtime::make_memory_file("weft-probe", sizeof(ring)), sizeof(ring));
    return {};
  } catch (const error& e) {
    return e.what();
  }
}

std::unique_ptr<transport> make(runtime::doorbell& own_bell, const std::string& large,
                                ring_read_policy reading, runtime::engine* looks_after,
                                std::size_t streamed_from) {
  copy_method way{};
  if (large == "auto")
    way = copy_method::automatic;
  else if (large == "pipeline")
    way = copy_method::pipeline;
  else if (large == "cma")
    way = copy_method::cma;
  else if (large == "direct")
    way = copy_method::direct;
  else
    throw error(errc::invalid_argument,
                "WEFT_SHM_COPY is \"" + large + "\"; it can be auto, pipeline, cma or direct");
  std::random_device dice;
  const std::uint64_t probe_value = std::uint64_t{dice()} << 32 | dice();
  if (reading == ring_read_policy::burst)
    return std::make_unique<shm_transport>(own_bell, way, probe_value, looks_after, streamed_from);
  return std::make_unique<read_policy_transport>(own_bell, way, probe_value, reading, looks_after,
                                                 streamed_from);
}

std::vector<copy_route> explain_copy(const transport& shm, bool cma, bool has_progress_thread) {
  const copy_method way = static_cast<const shm_transport&>(shm).shm_copy();
  std::vector<copy_route> all;
  const std::string ways[] = {
      "pipelined copy: both sides copy through the ring, piece by piece",
      "direct copy: the receiver copies it out of the sender's shared memory, once",
      "CMA: the kernel copies it once, between the receiver and a sender that polls",
      "pipelined copy or CMA, whichever has measured faster"};
  const auto add = [&](std::string when, bool in_region, bool away) {
    fetch_facts known;
    known.way = way;
    known.told = choose_exposure(way, in_region);
    known.mapped = in_region;
    known.cma_works = cma;
    known.sender_computing = away;
    known.sender_has_progress_thread = has_progress_thread;
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

std::string explain_frame(std::size_t payload) {
  return payload <= inline_bytes
             ? "header and payload share one cache line"
             : "the header is one cache line, the payload lies in the ring's bulk area";
}

std::string explain_stores(const transport& shm, std::size_t bytes) {
  const std::size_t from = static_cast<const shm_transport&>(shm).streamed_from();
  if (!can_stream) return "ordinary stores, through the cache: others are built for x86 only";
  if (from == never_streamed) return "ordinary stores, through the cache";
  if (bytes < from) return "ordinary stores: WEFT_SHM_STORES begins at " + std::to_string(from);
  return "streaming stores, past the cache, in pieces of " + std::to_string(from) +
         " bytes and more: WEFT_SHM_STORES asks for it";
}

std::span<std::byte> allocate(transport& shm, std::size_t size) {
  return static_cast<shm_transport&>(shm).regions().allocate(size);
}

void free(transport& shm, std::span<std::byte> memory) noexcept {
  static_cast<shm_transport&>(shm).free_region(memory);
}

}  // namespace weft::transports::shm
