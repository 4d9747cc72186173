// SPDX-License-Identifier: Apache-2.0
// A process dies while a link reads or writes a long message between it and another process: qdma,
// or shm, where both sides copy. The other side's operation ends, whole or with peer_lost, and its
// memory belongs to it again.
#include <signal.h>
#include <unistd.h>

#include <cstring>
#include <thread>
#include <vector>

#include <weft/weft.hpp>

#include "halfway.hpp"
#include "support/catch.hpp"
#include "support/parts.hpp"
#include "world.hpp"

using namespace fault;
using weft::errc;

namespace {

constexpr std::byte mark{0x11};

/// How long messages cross on both sides.
struct manner {
  const char* transport;
  const char* way;
  const char* chained;
  const char* ends;
};

/// Starts the program, which connects to a listener and does what `what` says.
program come(const manner& m, const weft::listener& listening, const std::string& what) {
  return program({bin + "/tests/halfway", listening.address(), what},
                 {std::string("WEFT_TRANSPORTS=") + m.transport, "WEFT_EAGER_LIMIT=1k",
                  "WEFT_RENDEZVOUS_EAGER_DATA=no", std::string("WEFT_RENDEZVOUS=") + m.way,
                  std::string("WEFT_RENDEZVOUS_CHAINED_FIN=") + m.chained,
                  std::string("WEFT_QDMA_COPY_COMPLETION=") + m.ends});
}

using memory = std::vector<std::byte>;

void fill(memory& m, std::byte with) {
  std::memset(m.data(), std::to_integer<int>(with), m.size());
}
/// Whether each byte equals the one before: few steps, because a sanitizer checks each.
bool is_full(const memory& m, std::byte of) {
  return m.front() == of && std::memcmp(m.data(), m.data() + 1, m.size() - 1) == 0;
}

weft::task<errc> receive(weft::listener& listening, memory& into) {
  weft::endpoint there = co_await listening.accept();
  const auto got = co_await weft::as_result(there.recv(into, halfway::the_message));
  co_return got.code();
}

weft::task<errc> send(weft::listener& listening, const memory& data) {
  weft::endpoint there = co_await listening.accept();
  const auto sent = co_await weft::as_result(there.send(data, halfway::the_message));
  co_return sent.code();
}

/// Exchanges one message, at whose first byte the other process dies. \return how it ended on this
/// side
errc cut_off(weft::context& ctx, weft::listener& listening, const manner& m, bool it_sends,
             memory& own) {
  fill(own, it_sends ? mark : halfway::content);
  program victim = come(m, listening, it_sends ? "send" : "receive");
  errc end{};
  if (it_sends) {
    const std::jthread watch([&](std::stop_token stop) {
      halfway::wait_for_first_byte(own, stop);
      ::kill(victim.pid(), SIGKILL);
    });
    end = weft::run(ctx, receive(listening, own));
  } else {
    end = weft::run(ctx, send(listening, own));
  }
  if (end == errc::ok && it_sends) CHECK(is_full(own, halfway::content));
  // The memory is ours: no other process writes there any more.
  fill(own, mark);
  CHECK(victim.wait() == 128 + SIGKILL);
  CHECK(is_full(own, mark));
  return end;
}

}  // namespace

TEST_CASE("kill: in the middle of a message that a link reads or writes") {
  enter_private_world();
  const auto m = GENERATE(values<manner>({{"qdma", "get", "no", "direct"},
                                          {"qdma", "put", "no", "direct"},
                                          {"qdma", "get", "yes", "one_queue"},
                                          {"qdma", "put", "yes", "two_queues"},
                                          {"shm", "get", "no", "direct"}}));
  const std::string way = m.way, chained = m.chained, ends = m.ends;
  const bool it_sends = GENERATE(true, false);
  if (!weft::tests::has_part("qdma") && m.transport == std::string_view("qdma")) return;
  CAPTURE(m.transport, way, chained, ends, it_sends);
  {
    weft::options o;
    o.transports = {m.transport};
    o.eager_limit = 1024;
    o.experimental.eager_data = weft::rendezvous_eager_data::no;
    o.experimental.rendezvous =
        way == "get" ? weft::rendezvous_scheme::get : weft::rendezvous_scheme::put;
    o.experimental.chained = chained == "yes" ? weft::chained_fin::yes : weft::chained_fin::no;
    o.experimental.qdma_copy_completion = ends == "direct"      ? weft::copy_completion::direct
                                          : ends == "one_queue" ? weft::copy_completion::one_queue
                                                                : weft::copy_completion::two_queues;
    weft::context ctx(o);
    weft::listener listening =
        weft::run(ctx, ctx.listen("unix://weft-halfway-" + std::to_string(::getpid())));
    memory own(halfway::size);
    // In some runs the whole message is there before the signal.
    errc end = errc::ok;
    for (int tries = 0; tries != 50 && end == errc::ok; ++tries)
      end = cut_off(ctx, listening, m, it_sends, own);
    CHECK(end == errc::peer_lost);
    // The same memory again, in a message with a process that lives.
    {
      const program good = come(m, listening, "send");
      CHECK(weft::run(ctx, receive(listening, own)) == errc::ok);
      CHECK(is_full(own, halfway::content));
    }
    const weft::metrics n = ctx.snapshot();
    CHECK((way == "get" ? n.rendezvous_gets : n.rendezvous_puts) != 0);
  }
  CHECK(leftovers() == "");
}
