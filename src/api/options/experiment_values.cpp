// SPDX-License-Identifier: Apache-2.0
// The options of experiments from the text of their variables, and back.
#include "api/options/experiment_values.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/options/option_text.hpp"
#include "collectives/forced.hpp"

namespace weft::detail {

namespace {

constexpr vocabulary<poll_policy, 3> policies{{{"order", poll_policy::in_order},
                                               {"adaptive", poll_policy::adaptive},
                                               {"toggle", poll_policy::toggle}}};

constexpr vocabulary<ring_read_policy, 5> readings{{{"burst", ring_read_policy::burst},
                                                    {"single", ring_read_policy::single},
                                                    {"contiguous", ring_read_policy::contiguous},
                                                    {"post", ring_read_policy::post},
                                                    {"immediate", ring_read_policy::immediate}}};

constexpr vocabulary<ring_stores, 3> storings{{{"auto", ring_stores::automatic},
                                               {"ordinary", ring_stores::ordinary},
                                               {"streaming", ring_stores::streaming}}};

constexpr vocabulary<rendezvous_scheme, 4> ways{{{"auto", rendezvous_scheme::automatic},
                                                 {"frames", rendezvous_scheme::frames},
                                                 {"get", rendezvous_scheme::get},
                                                 {"put", rendezvous_scheme::put}}};

constexpr vocabulary<rendezvous_eager_data, 3> beginnings{
    {{"auto", rendezvous_eager_data::automatic},
     {"yes", rendezvous_eager_data::yes},
     {"no", rendezvous_eager_data::no}}};

constexpr vocabulary<chained_fin, 3> chainings{
    {{"auto", chained_fin::automatic}, {"yes", chained_fin::yes}, {"no", chained_fin::no}}};

constexpr vocabulary<copy_completion, 3> ends{{{"direct", copy_completion::direct},
                                               {"one_queue", copy_completion::one_queue},
                                               {"two_queues", copy_completion::two_queues}}};

constexpr vocabulary<eager_operation, 2> operations{
    {{"send", eager_operation::send}, {"write", eager_operation::write}}};

}  // namespace

void set_shm_copy(options& o, const char* name, const std::string& value) {
  if (value != "auto" && value != "pipeline" && value != "cma" && value != "direct")
    bad(name, value, "auto, pipeline, cma or direct");
  o.experimental.shm_copy = value;
}

void set_poll_policy(options& o, const char* name, const std::string& value) {
  o.experimental.polling = one_of(policies, name, value, "order, adaptive or toggle");
}

void set_reading(options& o, const char* name, const std::string& value) {
  o.experimental.reading =
      one_of(readings, name, value, "burst, single, contiguous, post or immediate");
}

/// "streaming" may have a size behind a colon.
void set_stores(options& o, const char* name, const std::string& value) {
  constexpr const char* allowed =
      "auto, ordinary, streaming, or streaming:BYTES for pieces of so many bytes and more, at "
      "least 4k, as in streaming:16k";
  const std::size_t colon = std::min(value.find(':'), value.size());
  o.experimental.stores = one_of(storings, name, value.substr(0, colon), allowed);
  if (colon == value.size()) return;
  if (o.experimental.stores != ring_stores::streaming) bad(name, value, allowed);
  o.experimental.streamed_from = bytes(name, value.substr(colon + 1));
  if (o.experimental.streamed_from < smallest_streamed_from) bad(name, value, allowed);
}

void set_rendezvous(options& o, const char* name, const std::string& value) {
  o.experimental.rendezvous = one_of(ways, name, value, "auto, frames, get or put");
}

void set_eager_data(options& o, const char* name, const std::string& value) {
  o.experimental.eager_data = one_of(beginnings, name, value, "auto, yes or no");
}

void set_chained(options& o, const char* name, const std::string& value) {
  o.experimental.chained = one_of(chainings, name, value, "auto, yes or no");
}

void set_qdma_copy_completion(options& o, const char* name, const std::string& value) {
  o.experimental.qdma_copy_completion =
      one_of(ends, name, value, "direct, one_queue or two_queues");
}

void set_verbs_eager(options& o, const char* name, const std::string& value) {
  o.experimental.verbs_eager = one_of(operations, name, value, "send or write");
}

void set_collectives(options& o, const char* name, const std::string& value) {
  if (!collectives::forced_by(value))
    bad(name, value,
        "collectives with an algorithm each, with commas, each collective once, of " +
            collectives::all_choices());
  o.experimental.collectives = value;
}

void set_credit(options& o, const char* name, const std::string& value) {
  o.experimental.fixed_credit.reset();
  if (value != "auto") o.experimental.fixed_credit = bytes(name, value);
}

std::string name_of(poll_policy p) { return word_for(policies, p); }

std::string name_of(ring_read_policy r) { return word_for(readings, r); }

std::string text_of_stores(const options& o) {
  const options::experiments& e = o.experimental;
  const std::string word = word_for(storings, e.stores);
  return e.stores == ring_stores::streaming ? fmt::format("{}:{}", word, e.streamed_from) : word;
}

std::string name_of(rendezvous_scheme w) { return word_for(ways, w); }

std::string name_of(rendezvous_eager_data b) { return word_for(beginnings, b); }

std::string name_of(chained_fin c) { return word_for(chainings, c); }

std::string name_of(copy_completion e) { return word_for(ends, e); }

std::string name_of(eager_operation o) { return word_for(operations, o); }

}  // namespace weft::detail
