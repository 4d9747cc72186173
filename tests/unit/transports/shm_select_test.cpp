// SPDX-License-Identifier: Apache-2.0
#include "transports/shm/select.hpp"

#include <catch2/catch.hpp>

using namespace weft::transports::shm;

TEST_CASE("a sender names its memory as WEFT_LARGE allows") {
  CHECK(choose_exposure(large_way::automatic, true) == exposure::region);
  CHECK(choose_exposure(large_way::automatic, false) == exposure::address);
  CHECK(choose_exposure(large_way::direct, true) == exposure::region);
  CHECK(choose_exposure(large_way::direct, false) == exposure::nothing);
  CHECK(choose_exposure(large_way::cma, true) == exposure::address);
  CHECK(choose_exposure(large_way::pipeline, true) == exposure::nothing);
}

TEST_CASE("shared memory is copied directly, once it is mapped") {
  fetch_facts f;
  f.told = exposure::region;
  CHECK(choose_fetch(f).how == fetch::ask);
  f.mapped = true;
  CHECK(choose_fetch(f).how == fetch::copy);
}

TEST_CASE("the kernel copies when nobody on the sender's side does, or when it was asked for") {
  fetch_facts f;
  f.told = exposure::address;
  f.cma_works = true;
  CHECK(choose_fetch(f).how == fetch::ask);
  f.sender_away = true;
  CHECK(choose_fetch(f).how == fetch::read);
  f.sender_has_progress_thread = true;
  CHECK(choose_fetch(f).how == fetch::ask);
  f.way = large_way::cma;
  CHECK(choose_fetch(f).how == fetch::read);
  f.cma_works = false;
  CHECK(choose_fetch(f).how == fetch::ask);
}

TEST_CASE("a receiver that wants no kernel copy makes none, whatever the sender told") {
  fetch_facts f;
  f.told = exposure::address;
  f.cma_works = f.sender_away = true;
  for (const large_way way : {large_way::pipeline, large_way::direct}) {
    f.way = way;
    CHECK(choose_fetch(f).how == fetch::ask);
  }
}
