// SPDX-License-Identifier: Apache-2.0
// Lists of a header and a long piece, by reading and by writing the other side's memory.
#include <array>
#include <span>

#include "net.hpp"

using namespace net;
using weft::rendezvous_eager_data;
using weft::rendezvous_scheme;

TEST_CASE("one-sided: a header and a long piece, from a list and into one") {
  const auto wanted = GENERATE(rendezvous_scheme::get, rendezvous_scheme::put);
  fake::settings links;
  links.memory = fake::memory::readable;
  links.later = GENERATE(true, false);
  links.frames_per_poll = 3;
  weft::proto::messenger_settings how{64u << 20, 64u << 10};
  how.rendezvous = wanted;
  how.eager_data = GENERATE(rendezvous_eager_data::yes, rendezvous_eager_data::no);
  const std::size_t header = GENERATE(1u, 16u, 4096u, 5000u);
  const bool before = GENERATE(true, false);
  for (const std::size_t size : {100u, 65'536u, 70'000u, 1'000'003u}) {
    CAPTURE(size, header, static_cast<int>(wanted), static_cast<int>(how.eager_data), before);
    nodes n(2, links, how);
    const bytes head = pattern(header, 1), out = pattern(size, size);
    bytes front(header), in(size);
    const std::array<weft::const_buffer, 2> from{head, out};
    const std::array<weft::mutable_buffer, 2> into{front, in};
    receiving receive(weft::recv_request{&n[1].messages, &n[1].to(0), tag{1},
                                         std::span<const weft::mutable_buffer>(into)});
    sending send(
        weft::send_request{&n[0].to(1), tag{1}, std::span<const weft::const_buffer>(from)});
    if (before) receive.go();
    send.go();
    if (!before) {
      n.settle();
      receive.go();
    }
    n.settle();
    REQUIRE(send.ended_with(errc::ok));
    REQUIRE(receive.ended_with(errc::ok));
    CHECK((in == out));
    CHECK((front == head));
    // A header of one piece goes with the request; what is behind it is one piece on both sides.
    const bool in_place = size + header > 65'536 && header <= 4096;
    if (in_place) {
      CHECK(n[1].messages.snapshot().rendezvous_gets == (wanted == rendezvous_scheme::get));
      CHECK(n[1].messages.snapshot().rendezvous_puts == (wanted == rendezvous_scheme::put));
    }
    CHECK((n.clean() && n.world.shown() == 0));
  }
}
