// SPDX-License-Identifier: Apache-2.0
// The measured loops through weft.h.
#pragma once

#include <functional>
#include <vector>

#include "stage/stage.hpp"
#include "support/plan.hpp"

struct weft_context;
struct weft_peer;

namespace weft::bench {

/// One of the two processes, without coroutines.
struct c_side {
  weft_context* ctx;
  weft_peer* peer;
  int rank;
};

/// As on_stage, on one host, with contexts of libweft-c.so, each driven by its only thread.
void on_c_stage(const std::string& name, const settings& chosen,
                const std::function<void(const c_side&)>& act);

/// As half_round_trips: posts the receive, and calls weft_poll until it reports the end.
std::vector<double> half_round_trips_in_c(const c_side& me, std::size_t size, plan loops);

}  // namespace weft::bench
