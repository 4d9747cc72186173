// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include "transports/self/transport.hpp"

using namespace weft::transports;

namespace {

class nobody final : public inlet {
 public:
  bool on_frame(const frame_header&, const frame_extension*, const std::byte*) noexcept override {
    return true;
  }
  void on_room() noexcept override {}
  void on_broken(weft::errc) noexcept override {}
};

}  // namespace

TEST_CASE("self: an offer of another process is refused") {
  weft::runtime::engine turns(weft::progress_mode::polling, {}, "epoll");
  self::self_transport here(turns);
  nobody peer;
  parcel answer;
  CHECK_FALSE(here.accept(peer, {}, {}, answer).empty());
}
