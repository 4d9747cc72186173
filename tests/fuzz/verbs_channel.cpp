// SPDX-License-Identifier: Apache-2.0
// The peer of an RDMA channel writes arbitrary bytes into the memory that both use, at any moment.
// No call hands out or takes more than was asked, nothing beside the caller's memory is touched, a
// broken pipe stays broken, and another pipe goes on.
#include <vector>

#include "support/verbs_liar.hpp"
#include "target.hpp"

namespace weft::fuzz {

namespace {

using namespace transports;
namespace wire = transports::channel;
using tests::fabric;
using tests::fake_device;

constexpr std::size_t ring = 512, most = 1500;

rdma_channel::settings chosen(unsigned step) {
  return {.step = static_cast<rdma_channel::rung>(step % 5),
          .ring = ring,
          .chunk = 128,
          .threshold = 600};
}

/// Memory with guards on either side that must not change.
class framed {
 public:
  std::span<std::byte> middle(std::size_t size) { return std::span(all_).subspan(edge, size); }
  void look(std::size_t size) const {
    for (std::size_t i = 0; i != all_.size(); ++i)
      if (i < edge || i >= edge + size)
        check(all_[i] == std::byte{7}, "nothing but the caller's memory is touched");
  }

 private:
  static constexpr std::size_t edge = 64;
  std::vector<std::byte> all_ = std::vector<std::byte>(most + 2 * edge, std::byte{7});
};

struct stage {
  fabric net;
  fake_device here{net}, elsewhere{net};
  std::vector<std::byte> out = std::vector<std::byte>(most);
  framed in;
  std::unique_ptr<rdma_channel> pipe;
  tests::channel_liar liar;
  bool broken = false;
  std::size_t putting = 0, getting = 0;  // bytes of a call that has returned 0

  explicit stage(unsigned step)
      : pipe(verbs::channel::open(here, chosen(step))), liar(elsewhere, *pipe) {}
  /// \param lie the card's content besides queue pair and key; empty: the true one
  void meet(std::span<const std::byte> lie) {
    verbs::channel::card said = liar.card();
    if (!lie.empty()) std::memcpy(&said, lie.data(), lie.size());
    const verbs::channel::card own = liar.own_address(said);
    call([&] { pipe->meet(std::as_bytes(std::span(&own, 1))); });
  }
  /// A chunk that looks right: one of the first lap.
  void chunk(std::size_t number, const wire::trailer& t) {
    liar.chunk(number % (ring / liar.card().chosen.chunk), t);
  }
  void word(std::size_t which, std::uint64_t value) {
    liar.say(which % 4 * 64 + (which % 4 == 3 ? 16 : 0), value);
  }
  void put(std::size_t size) {
    if (putting != 0) size = putting;
    const const_buffer data(out.data(), size);
    call([&] {
      const std::size_t n = pipe->put({&data, 1});
      check(n <= size, "no more is taken than was offered");
      putting = n == 0 ? size : 0;
    });
  }
  void get(std::size_t size) {
    if (getting != 0)
      size = getting;
    else
      in = {};
    const mutable_buffer into = in.middle(size);
    call([&] {
      const std::size_t n = pipe->get({&into, 1});
      check(n <= size, "no more comes than there is room for");
      getting = n == 0 ? size : 0;
    });
    in.look(size);
  }
  template <class Call>
  void call(Call what) {
    try {
      what();
      check(!broken, "what is broken stays so");
    } catch (const error& e) {
      check(e.kind() != errc::closed, "nobody has closed it");
      broken = true;
    }
  }
};

}  // namespace

void run(input in) {
  const auto step = in.get<std::uint8_t>();
  stage s(step);
  if (step >= 128)
    s.meet(in.bytes(sizeof(verbs::channel::card)));
  else
    s.meet({});
  while (!in.empty() && !s.broken) {
    switch (in.get<std::uint8_t>() % 7) {
      case 0: {
        const auto at = in.get<std::uint16_t>();
        const auto size = in.get<std::uint8_t>();
        s.liar.write(at % (ring + sizeof(wire::words)), in.bytes(size));
        break;
      }
      case 1: {
        const auto number = in.get<std::uint8_t>();
        s.chunk(number, in.get<wire::trailer>());
        break;
      }
      case 2: {
        const auto number = in.get<std::uint8_t>();
        const std::uint32_t size = in.get<std::uint8_t>(), kind = number / 64;
        s.chunk(number % 16, {0, size, kind, number % 16 + 1ull});
        break;
      }
      case 3: {
        const auto which = in.get<std::uint8_t>();
        const std::uint64_t value = which < 128 ? in.get<std::uint16_t>() : in.get<std::uint64_t>();
        s.word(which, value);
        break;
      }
      case 4:
        s.put(in.get<std::uint16_t>() % (most + 1));
        break;
      case 5:
        s.get(in.get<std::uint16_t>() % (most + 1));
        break;
      default:
        s.call([&] { s.pipe->progress(); });
    }
  }
  if (s.broken) s.get(1);
  s.pipe->close();

  stage other(step);
  const auto peer = verbs::channel::open(other.elsewhere, chosen(step));
  const auto honest = verbs::channel::open(other.here, chosen(step));
  peer->meet(honest->card());
  honest->meet(peer->card());
  const std::byte sent{3};
  std::byte got{};
  const const_buffer data(&sent, 1);
  const mutable_buffer into(&got, 1);
  check(peer->put({&data, 1}) == 1 && honest->get({&into, 1}) == 1 && got == sent,
        "another pipe goes on");
}

}  // namespace weft::fuzz
