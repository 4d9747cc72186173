// SPDX-License-Identifier: Apache-2.0
#include "support/catch.hpp"
#include "transports/shm/select.hpp"

using namespace weft::transports::shm;

TEST_CASE("a sender names its memory as WEFT_SHM_COPY allows") {
  CHECK(choose_exposure(copy_method::automatic, true) == exposure::region);
  CHECK(choose_exposure(copy_method::automatic, false) == exposure::address);
  CHECK(choose_exposure(copy_method::direct, true) == exposure::region);
  CHECK(choose_exposure(copy_method::direct, false) == exposure::nothing);
  CHECK(choose_exposure(copy_method::cma, true) == exposure::address);
  CHECK(choose_exposure(copy_method::pipeline, true) == exposure::nothing);
}

TEST_CASE("shared memory is copied directly, once it is mapped") {
  fetch_facts f;
  f.told = exposure::region;
  CHECK(choose_fetch(f).how == fetch::ask);
  f.mapped = true;
  CHECK(choose_fetch(f).how == fetch::copy);
}

TEST_CASE("the kernel copies when no thread on the sender's side does, or when it was asked for") {
  fetch_facts f;
  f.told = exposure::address;
  f.cma_works = true;
  CHECK(choose_fetch(f).how == fetch::either);
  f.sender_computing = true;
  CHECK(choose_fetch(f).how == fetch::read);
  f.sender_has_progress_thread = true;
  CHECK(choose_fetch(f).how == fetch::either);
  f.way = copy_method::cma;
  CHECK(choose_fetch(f).how == fetch::read);
  f.cma_works = false;
  CHECK(choose_fetch(f).how == fetch::ask);
}

TEST_CASE("on a crowded host the kernel copies, and nothing is measured") {
  fetch_facts f;
  f.told = exposure::address;
  f.crowded = f.cma_works = true;
  CHECK(choose_fetch(f).how == fetch::read);
  f.way = copy_method::pipeline;
  CHECK(choose_fetch(f).how == fetch::ask);
  f.way = copy_method::automatic;
  f.cma_works = false;
  CHECK(choose_fetch(f).how == fetch::ask);
}

TEST_CASE("a receiver that wants no kernel copy makes none, whatever the sender told") {
  fetch_facts f;
  f.told = exposure::address;
  f.cma_works = f.sender_computing = true;
  for (const copy_method way : {copy_method::pipeline, copy_method::direct}) {
    f.way = way;
    CHECK(choose_fetch(f).how == fetch::ask);
  }
}
