// SPDX-License-Identifier: Apache-2.0
// The WEFT_* variables for experiments: docs/environment.md, "For experiments".
#include <string>

#include <weft/environment.hpp>

#include "api/options/experiment_values.hpp"

namespace weft {

const std::vector<environment_variable>& experiment_variables() {
  using namespace detail;
  static const std::vector<environment_variable> all{
      {"WEFT_POLL_POLICY", "experimental.polling",
       "how polling threads look at transports: order, adaptive, toggle", set_poll_policy,
       [](const options& o) { return name_of(o.experimental.polling); }},
      {"WEFT_SHM_READ_POLICY", "experimental.reading",
       "what is taken out of a peer's ring at once: burst, single, contiguous, post, immediate",
       set_reading, [](const options& o) { return name_of(o.experimental.reading); }},
      {"WEFT_SHM_COPY", "experimental.shm_copy",
       "how large messages cross shared memory: auto, pipeline, cma, direct", set_shm_copy,
       [](const options& o) { return o.experimental.shm_copy; }},
      {"WEFT_SHM_STORES", "experimental.stores",
       "how payloads are written into shared memory: auto, ordinary, streaming:BYTES", set_stores,
       text_of_stores},
      {"WEFT_RENDEZVOUS", "experimental.rendezvous",
       "how the payload of a message above the eager limit crosses: auto, frames, get, put",
       set_rendezvous, [](const options& o) { return name_of(o.experimental.rendezvous); }},
      {"WEFT_RENDEZVOUS_EAGER_DATA", "experimental.eager_data",
       "whether the beginning of such a message goes with the handshake: auto, yes, no",
       set_eager_data, [](const options& o) { return name_of(o.experimental.eager_data); }},
      {"WEFT_RENDEZVOUS_CHAINED_FIN", "experimental.chained",
       "whether the FIN after a get or put is chained to the copy: auto, yes, no", set_chained,
       [](const options& o) { return name_of(o.experimental.chained); }},
      {"WEFT_QDMA_COPY_COMPLETION", "experimental.qdma_copy_completion",
       "how qdma tells its own side of a copy's end: direct, one_queue, two_queues",
       set_qdma_copy_completion,
       [](const options& o) { return name_of(o.experimental.qdma_copy_completion); }},
      {"WEFT_VERBS_EAGER", "experimental.verbs_eager",
       "how eager messages come to this process over verbs: send, write", set_verbs_eager,
       [](const options& o) { return name_of(o.experimental.verbs_eager); }},
      {"WEFT_COLLECTIVES", "experimental.collectives",
       "algorithms of collectives, such as all_reduce:ring, with commas; empty: what is cheapest",
       set_collectives, [](const options& o) { return o.experimental.collectives; }},
      {"WEFT_CREDIT", "experimental.fixed_credit",
       "bytes that each peer may send before they are received (k, m, g), the same for all; auto: "
       "as WEFT_UNEXPECTED_BUDGET allows",
       set_credit,
       [](const options& o) {
         const auto& fixed = o.experimental.fixed_credit;
         return fixed ? std::to_string(*fixed) : "auto";
       }},
  };
  return all;
}

}  // namespace weft
