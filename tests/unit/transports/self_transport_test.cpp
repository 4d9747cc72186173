// SPDX-License-Identifier: Apache-2.0

#include <vector>

#include "runtime/progress/engine.hpp"
#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"
#include "transports/self/transport.hpp"

using namespace weft::transports;

namespace {

class nobody final : public frame_sink {
 public:
  bool on_frame(const frame_header&, const frame_extension*, const std::byte*) noexcept override {
    return true;
  }
  int rooms = 0;
  void on_writable() noexcept override { ++rooms; }
  void on_broken(weft::errc) noexcept override {}
};

}  // namespace

TEST_CASE("self: an offer of another process is refused") {
  weft::runtime::engine turns(weft::progress_mode::polling, {}, "epoll");
  self::self_transport here(turns);
  nobody peer;
  wireup_message answer;
  CHECK_FALSE(here.accept(peer, {}, {}, answer).empty());
}

// A former defect: the frame was not sent again, and the message waited for ever.
TEST_CASE("self: a frame for which there was no memory is asked for again") {
  if (!weft::tests::counts_allocations())
    return weft::tests::skip("allocations cannot be refused here");
  weft::runtime::engine turns(weft::progress_mode::polling, {}, "epoll");
  self::self_transport here(turns);
  nobody peer;
  wireup_message offer;
  const std::unique_ptr<weft::transports::link> out = here.open(peer, {}, offer);
  const std::vector<std::byte> bytes(1000);
  const frame_header header{1, 1000, 1, 0, 0};
  {
    const weft::tests::no_memory none;
    CHECK(out->send_contiguous(header, nullptr, bytes.data()) == post::busy);
  }
  CHECK(here.worth_polling);
  CHECK(here.has_work());
  here.poll();
  CHECK(peer.rooms == 1);
  CHECK_FALSE(here.busy);
  CHECK(out->send_contiguous(header, nullptr, bytes.data()) == post::done);
  here.forget(peer);
}
