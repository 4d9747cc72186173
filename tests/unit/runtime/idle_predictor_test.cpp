// SPDX-License-Identifier: Apache-2.0
#include "runtime/progress/idle_predictor.hpp"
#include "support/catch.hpp"

using namespace std::chrono_literals;
using weft::runtime::idle_predictor;

namespace {

/// Plays phases, one after the other, with made-up times.
struct history {
  idle_predictor predictor;
  idle_predictor::time_point now{1s};

  /// As the engine does: a phase counts if it was predicted to be long.
  void phase(idle_predictor::duration length) {
    const bool predicted = predictor.predicts_long();
    if (predicted) predictor.begin(now);
    now += length;
    if (predicted) predictor.end(now);
    now += 10us;
  }
  int wakeups(int phases, idle_predictor::duration length) {
    int all = 0;
    for (int i = 0; i != phases; ++i) {
      all += predictor.predicts_long() ? 1 : 0;
      phase(length);
    }
    return all;
  }
};

}  // namespace

TEST_CASE("idle predictor: nothing is predicted before a long phase was seen") {
  history h;
  CHECK_FALSE(h.predictor.predicts_long());
  CHECK(h.wakeups(100, 1ms) == 0);
  h.predictor.saw_long_phase();
  CHECK(h.predictor.predicts_long());
}

TEST_CASE("idle predictor: long phases are predicted as long as they come") {
  history h;
  h.predictor.saw_long_phase();
  CHECK(h.wakeups(1000, 1ms) == 1000);
}

TEST_CASE("idle predictor: a long phase that was only seen pays for a few wrong predictions") {
  history h;
  h.predictor.saw_long_phase();
  const int wrong = h.wakeups(100, 5us);
  CHECK(wrong > 0);
  CHECK(wrong * idle_predictor::wakeup_cost <= idle_predictor::for_one_seen);
  CHECK_FALSE(h.predictor.has_begun());
}

TEST_CASE("idle predictor: many coroutines one after the other are no long phase") {
  idle_predictor predictor;
  predictor.saw_long_phase();
  idle_predictor::time_point now{1s};
  for (int i = 0; i != 20 && predictor.predicts_long(); ++i) {
    predictor.begin(now);
    now += 64us;
    predictor.end(now, 64);
  }
  CHECK_FALSE(predictor.predicts_long());
}

TEST_CASE("idle predictor: wrong predictions cost a small share of the long phases before them") {
  history h;
  h.predictor.saw_long_phase();
  h.phase(64 * 100us);
  const int wrong = h.wakeups(1000, 5us);
  CHECK(wrong * idle_predictor::wakeup_cost <=
        64 * 100us / idle_predictor::share_for_wakeups + idle_predictor::for_one_seen);
  CHECK(wrong > 10);
}

TEST_CASE("idle predictor: wrong predictions in a row are bounded, however long it was right") {
  history h;
  h.predictor.saw_long_phase();
  h.wakeups(1000, 1s);
  CHECK(h.wakeups(1000, 5us) * idle_predictor::wakeup_cost <= idle_predictor::most_for_wakeups);
}
