// SPDX-License-Identifier: Apache-2.0
// The allocations of weft.h, and its errors when there is no memory.
#include <unistd.h>

#include <string>
#include <thread>

#include <weft/weft.h>

#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using weft::tests::allocations;
using weft::tests::no_memory;

namespace {

weft_context* opened() {
  weft_context* ctx = nullptr;
  REQUIRE(weft_open(nullptr, &ctx) == WEFT_OK);
  return ctx;
}

/// Two connected contexts of this process.
struct couple {
  couple() {
    const std::string address = "unix://weft-h-" + std::to_string(::getpid());
    weft_listener* listening = nullptr;
    REQUIRE(weft_listen(left, address.c_str(), &listening) == WEFT_OK);
    std::thread other([&] { weft_connect(right, address.c_str(), nullptr, 20'000, &to_left); });
    const int code = weft_accept(listening, 20'000, nullptr, 0, &to_right);
    other.join();
    REQUIRE(code == WEFT_OK);
    REQUIRE(to_left);
  }
  ~couple() {
    weft_close(right);
    weft_close(left);
  }

  /// Sends a message from right to left; weft_poll reports both ends. \return how many of the two
  /// failed
  int exchange() {
    char in[8] = {};
    weft_op ops[2];
    weft_completion done{};
    int waiting = weft_recv(left, to_right, in, sizeof in, 1, 0, &ops[0], nullptr) == WEFT_OK;
    const int sent = weft_send(to_left, "1234567", 8, 1, &ops[1], nullptr);
    waiting += sent == WEFT_OK;
    if (sent < 0) weft_cancel(&ops[0]);
    int failed = sent < 0;
    while (waiting > 0)
      for (weft_context* const at : {left, right})
        if (weft_poll(at, &done, 1) == 1) {
          --waiting;
          failed += done.status != WEFT_OK;
        }
    return failed + (in[6] != '7');
  }

  weft_context* left = opened();
  weft_context* right = opened();
  weft_peer* to_left = nullptr;
  weft_peer* to_right = nullptr;
};

}  // namespace

TEST_CASE("weft.h: a message allocates nothing, and crosses with no memory left") {
  if (!weft::tests::counts_allocations()) return weft::tests::skip("the sanitizer has its own new");
  couple both;
  int failed = 0;
  for (int i = 0; i < 100; ++i) failed += both.exchange();
  const std::size_t before = allocations();
  {
    const no_memory refused;
    for (int i = 0; i < 100; ++i) failed += both.exchange();
  }
  CHECK(failed == 0);
  CHECK(allocations() == before);
}

TEST_CASE("weft.h: memory that is refused is an error code, and nothing is thrown") {
  if (!weft::tests::counts_allocations()) return weft::tests::skip("the sanitizer has its own new");
  weft_context* ctx = opened();
  weft_context* second = nullptr;
  weft_peer* peer = nullptr;
  weft_listener* listening = nullptr;
  void* memory = nullptr;
  char text[100] = "";
  int codes[6] = {};
  {
    const no_memory refused;
    codes[0] = weft_open(nullptr, &second);
    codes[1] = weft_peer_of(ctx, 7, &peer);
    codes[2] = weft_listen(ctx, "unix://a-name-that-is-too-long-for-no-memory", &listening);
    codes[3] = weft_connect(ctx, "unix://a-name-that-is-too-long-for-no-memory", "", 0, &peer);
    codes[4] = weft_alloc(ctx, 4096, &memory);
    codes[5] = weft_join("unix://a-name-that-is-too-long-for-no-memory", nullptr, &second);
    weft_describe(ctx, text, sizeof text);
  }
  for (const int code : codes) CHECK(code == WEFT_OUT_OF_MEMORY);
  CHECK_FALSE(second);
  CHECK_FALSE(peer);
  CHECK_FALSE(listening);
  CHECK_FALSE(memory);
  CHECK(weft_last_error(ctx, text, sizeof text) > 0);
  CHECK(weft_peer_of(ctx, 0, &peer) == WEFT_OK);
  weft_close(ctx);
}
