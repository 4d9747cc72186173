// SPDX-License-Identifier: Apache-2.0
// The verbs transport on a device of libibverbs: how a device is found, and its errors. Where there
// is none these tests are skipped; tests/rdma_guest/guest.sh runs them where there is one.
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "devices.hpp"
#include "transports/verbs/hardware/hardware.hpp"

using namespace ends;
using weft::transports::verbs::queue_pair_address;

namespace {

queue_pair_address card_in(const wireup_message& p) {
  queue_pair_address c{};
  REQUIRE(p.bytes.size() == sizeof c);
  std::memcpy(&c, p.bytes.data(), sizeof c);
  return c;
}

wireup_message parcel_of(const queue_pair_address& c) {
  wireup_message p;
  p.bytes.resize(sizeof c);
  std::memcpy(p.bytes.data(), &c, sizeof c);
  return p;
}

/// A queue pair that does what no correct peer does, connected to `to`, which has accepted it.
std::unique_ptr<verbs::queue_pair> liar_to(plain_end& to, verbs::device& on) {
  auto liar = on.make_queue_pair();
  const verbs::place& here = on.here();
  const queue_pair_address own{verbs::magic,
                               verbs::version,
                               here.lid,
                               liar->number(),
                               0,
                               here.mtu,
                               static_cast<std::uint8_t>(here.ethernet ? 1 : 0),
                               static_cast<std::uint8_t>(verbs::window),
                               on.can().reads_at_once,
                               verbs::slot_bytes,
                               here.gid,
                               0,
                               0};
  wireup_message answer;
  REQUIRE(to.accept(parcel_of(own), answer) == "");
  REQUIRE(liar->connect(card_in(answer), 0, std::chrono::seconds(2)) == "");
  return liar;
}

ibv_wc next_completion(verbs::device& of) {
  ibv_wc c{};
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (of.poll({&c, 1}) == 0 && std::chrono::steady_clock::now() < until) continue;
  return c;
}

}  // namespace

TEST_CASE("device: frames of all sizes, both ways, many times around all queues") {
  auto one = device_of(), two = device_of();
  if (!one || !two) return;
  plain_end a(std::move(one)), b(std::move(two));
  connect(a, b);
  connect(b, a);
  for (const std::size_t size : {0, 1, 112, 113, 4000, 4096, 8192}) {
    for (plain_end* from : {&a, &b}) {
      plain_end& to = from == &a ? b : a;
      to.in.frames.clear();
      REQUIRE(from->send(numbered(size), pattern(size, size)) == post::done);
      REQUIRE(eventually(a, b, [&] { return to.in.frames.size() == 1; }));
      CHECK((to.in.frames[0].payload == pattern(size, size)));
    }
  }
  b.in.frames.clear();
  std::uint64_t sent = 0;
  REQUIRE(eventually(a, b, [&] {
    while (sent != 2000 && a.send(numbered(sent), pattern(sent % 500, sent)) == post::done) ++sent;
    return b.in.frames.size() == 2000;
  }));
  for (std::size_t i = 0; i != 2000; ++i)
    if (b.in.frames[i].header.tag != i || b.in.frames[i].payload != pattern(i % 500, i))
      FAIL("frame " << i);
}

TEST_CASE("device: of 100 000 sleeps none goes on over something that has arrived", "[.soak]") {
  auto one = device_of(), two = device_of();
  if (!one || !two) return;
  plain_end a(std::move(one)), b(std::move(two));
  connect(a, b);
  std::size_t sleeps = 0;
  for (std::uint64_t round = 0; round != 100'000; ++round) {
    const auto send = [&] {
      while (a.send(numbered(round)) == post::busy) a.turns.poll_once();
    };
    bool sent = round % 2 == 0;  // before the channel is armed, or after
    if (sent) send();
    for (b.in.frames.clear(); b.in.frames.empty(); ++sleeps) {
      {
        const engine::holder hold(b.turns);
        b.transport.arm();
      }
      if (!std::exchange(sent, true)) send();
      pollfd fd{b.transport.handle(), POLLIN, 0};
      if (::poll(&fd, 1, 60'000) != 1) FAIL("asleep in round " << round);
      const engine::holder hold(b.turns);
      b.transport.on_ready();
      b.transport.poll();
    }
    if (b.in.frames.size() != 1 || b.in.frames[0].header.tag != round) FAIL("round " << round);
  }
  CHECK(sleeps >= 100'000);
}

TEST_CASE("device: the shared receive queue runs out, and senders wait instead of failing") {
  auto one = device_of();
  if (!one) return;
  plain_end b(std::move(one));
  std::vector<std::unique_ptr<plain_end>> senders;
  std::vector<std::unique_ptr<recorder>> frame_sinks;
  std::size_t sent = 0;
  // One more window than there are receives, without a poll.
  const std::size_t enough = verbs::sizes{}.receives / verbs::window + 2;
  for (std::size_t i = 0; i != enough; ++i) {
    senders.push_back(std::make_unique<plain_end>(device_of()));
    frame_sinks.push_back(std::make_unique<recorder>());
    const wireup_message offer = senders.back()->open();
    wireup_message answer;
    {
      const engine::holder hold(b.turns);
      REQUIRE(b.transport.accept(*frame_sinks.back(), b.who, {0, offer.bytes, {}}, answer) == "");
    }
    REQUIRE(senders.back()->opened(std::move(answer)) == "");
    while (senders.back()->send(numbered(sent)) == post::done) ++sent;
  }
  REQUIRE(sent == enough * verbs::window);
  const auto arrived = [&] {
    std::size_t n = 0;
    for (const auto& in : frame_sinks) n += in->frames.size();
    return n;
  };
  REQUIRE(eventually(b, *senders.front(), [&] { return arrived() == sent; }));
  for (const auto& s : senders) {
    CHECK(eventually(b, *s, [&] { return s->send(numbered(0)) == post::done; }));
    CHECK(s->in.broken.empty());
  }
  for (const auto& in : frame_sinks) CHECK(in->broken.empty());
  const engine::holder hold(b.turns);
  for (const auto& s : senders) s->drop_link();
  for (const auto& in : frame_sinks) b.transport.forget(*in);
}

TEST_CASE("device: a queue pair that is gone is a peer that is lost, and only it") {
  auto one = device_of(impatient()), two = device_of(), three = device_of();
  if (!one || !two || !three) return;
  plain_end a(std::move(one), impatient()), other(std::move(three));
  auto gone = std::make_unique<plain_end>(std::move(two));
  connect(a, *gone);
  recorder second;
  const wireup_message offer = other.open();
  wireup_message answer;
  {
    const engine::holder hold(a.turns);
    REQUIRE(a.transport.accept(second, a.who, {0, offer.bytes, {}}, answer) == "");
  }
  gone.reset();
  CHECK(a.send(numbered(1)) == post::done);
  REQUIRE(eventually(a, other, [&] { return !a.in.broken.empty(); }));
  CHECK(a.in.broken == std::vector<errc>{errc::peer_lost});
  CHECK(a.transport.describe(a.in).find("retry") != std::string::npos);
  CHECK(second.broken.empty());
  const engine::holder hold(a.turns);
  a.transport.forget(second);
}

TEST_CASE("device: who writes with a wrong key breaks its own connection, and nothing else") {
  auto one = device_of(), two = device_of(), own = device_of();
  if (!one || !two || !own) return;
  plain_end a(std::move(one)), b(std::move(two));
  connect(a, b);
  plain_end victim(device_of());
  const auto liar = liar_to(victim, *own);
  bytes data(64);
  const auto address = reinterpret_cast<std::uintptr_t>(data.data());
  const auto known = own->enroll(data, address, IBV_ACCESS_LOCAL_WRITE);
  ibv_sge from{address, 64, known->local_key()};
  ibv_send_wr work{};
  work.sg_list = &from;
  work.num_sge = 1;
  work.opcode = IBV_WR_RDMA_WRITE;
  work.send_flags = IBV_SEND_SIGNALED;
  work.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(&victim);
  work.wr.rdma.rkey = 0x1234567;
  REQUIRE(liar->post(work) == 0);
  CHECK(next_completion(*own).status == IBV_WC_REM_ACCESS_ERR);
  CHECK(a.send(numbered(1)) == post::done);
  CHECK(eventually(a, b, [&] { return b.in.frames.size() == 1; }));
}

TEST_CASE("device: a receive that comes late is waited for") {
  auto one = device_of(), two = device_of();
  if (!one || !two) return;
  plain_end victim(std::move(one));
  const auto liar = liar_to(victim, *two);
  // More than all receives: none is posted again before this side polls.
  const frame_header h{0, 0, verbs::first_own_kind, 0, 0};
  ibv_sge from{reinterpret_cast<std::uintptr_t>(&h), sizeof h, 0};
  ibv_send_wr work{};
  work.sg_list = &from;
  work.num_sge = 1;
  work.opcode = IBV_WR_SEND_WITH_IMM;
  const std::uint32_t all = verbs::sizes{}.receives, step = verbs::sizes{}.sends / 2;
  std::uint32_t done = 0;
  for (std::uint32_t posted = 0; posted != all + step; posted += step) {
    for (std::uint32_t i = 1; i <= step; ++i) {
      work.send_flags = IBV_SEND_INLINE | (i == step ? unsigned{IBV_SEND_SIGNALED} : 0u);
      REQUIRE(liar->post(work) == 0);
    }
    if (posted == all) break;
    REQUIRE(next_completion(*two).status == IBV_WC_SUCCESS);
    done += step;
  }
  CHECK(done == all);
  ibv_wc c{};
  CHECK(two->poll({&c, 1}) == 0);
  REQUIRE(eventually(victim, victim, [&] { return two->poll({&c, 1}) == 1; }));
  CHECK(c.status == IBV_WC_SUCCESS);
  CHECK(victim.in.broken.empty());
}

TEST_CASE("device: an address or a device that does not work is named, with the variable") {
  if (!device_of()) return;
  std::string why;
  verbs::settings s;
  s.gid_index = 200;
  CHECK(!verbs::find(s, why));
  CHECK(why.find("WEFT_VERBS_GID_INDEX") != std::string::npos);
  s = {};
  s.device = "mlx5_77";
  CHECK(!verbs::find(s, why));
  CHECK(why.find("mlx5_77 (WEFT_VERBS_DEVICE)") != std::string::npos);
}

TEST_CASE("device: a limit on locked memory is named, with its cure") {
  if (!device_of()) return;
  if (::geteuid() != 0) return weft::tests::skip("only root can become somebody with a limit");
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit small{64 * 1024, 64 * 1024};
    std::string why;
    bool told = false;
    if (::setrlimit(RLIMIT_MEMLOCK, &small) == 0) {
      plain_end e(verbs::find({}, why));
      if (::setresuid(65'534, 65'534, 65'534) == 0) try {
          e.open();
        } catch (const error& x) {
          told = std::string(x.what()).find("ulimit -l unlimited") != std::string::npos;
        }
      ::_exit(told ? 0 : 1);
    }
    ::_exit(2);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}

TEST_CASE("device: a process that forks keeps its connections") {
  auto one = device_of(), two = device_of();
  if (!one || !two) return;
  plain_end a(std::move(one)), b(std::move(two));
  connect(a, b);
  REQUIRE(a.send(numbered(1), pattern(5000)) == post::done);
  REQUIRE(eventually(a, b, [&] { return b.in.frames.size() == 1; }));
  int gate[2];
  REQUIRE(::pipe(gate) == 0);
  const pid_t child = ::fork();  // while it lives, every page of both is shared
  if (child == 0) {
    char end = 0;
    ::close(gate[1]);
    ::_exit(::read(gate[0], &end, 1) == 0 ? 0 : 1);
  }
  for (std::uint64_t i = 0; i != 600; ++i) {
    REQUIRE(eventually(a, b, [&] { return a.send(numbered(i), pattern(5000, i)) == post::done; }));
    REQUIRE(eventually(a, b, [&] { return b.in.frames.size() == i + 2; }));
    if (b.in.frames.back().payload != pattern(5000, i)) FAIL("frame " << i);
  }
  ::close(gate[1]);
  ::close(gate[0]);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("device: a port that goes down is a peer that is lost") {
  if (!std::filesystem::exists("/sys/class/net/dummy0") || !std::getenv("WEFT_TEST_GUEST"))
    return weft::tests::skip("only the guest's network may be taken down");
  auto one = device_of(), two = device_of();
  if (!one || !two) return;
  {
    plain_end a(std::move(one), impatient()), b(std::move(two));
    connect(a, b);
    REQUIRE(std::system("ip link set dummy0 down") == 0);
    CHECK(a.send(numbered(1)) == post::done);
    REQUIRE(eventually(a, b, [&] { return !a.in.broken.empty(); }));
    CHECK(a.in.broken == std::vector<errc>{errc::peer_lost});
    CHECK(a.send(numbered(2)) == post::failed);
  }
  REQUIRE(std::system("ip link set dummy0 up") == 0);
}
