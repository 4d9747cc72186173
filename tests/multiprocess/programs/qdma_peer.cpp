// SPDX-License-Identifier: Apache-2.0
// A process that connects to a device and does one thing with it:
//   qdma_peer CONTACT hello OWNER QUEUE             says so and leaves
//   qdma_peer CONTACT offer OWNER QUEUE             shows a region, and its memory by the kernel,
//                                                   until it is killed
//   qdma_peer CONTACT write OWNER QUEUE KEY SIZE    fills a region again and again, and says so
//   each
//                                                   time
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <weft/qdma.hpp>
#include <weft/weft.hpp>

namespace {

using namespace weft;

qdma::device_address contact_in(const std::string& hex) {
  qdma::device_address c;
  for (std::size_t i = 0; i != c.bytes.size(); ++i)
    c.bytes[i] = static_cast<std::byte>(std::stoul(hex.substr(2 * i, 2), nullptr, 16));
  return c;
}

task<void> play(context& ctx, std::vector<std::string> args) {
  qdma::device d = co_await qdma::device::join(ctx, contact_in(args[0]));
  const auto owner = static_cast<qdma::process>(std::stoul(args[2]));
  const qdma::remote_queue to{owner, static_cast<std::uint32_t>(std::stoul(args[3]))};
  const auto say = [&](const auto& what) {
    return qdma::post(to, std::as_bytes(std::span(&what, 1)));
  };
  const qdma::event done = d.make_event(1, true);
  if (args[1] == "hello") {
    d.start(say('h').then(qdma::signal(done.id())));
    co_return co_await done;
  }
  if (args[1] == "offer") {
    constexpr std::size_t size = std::size_t{8} << 20;
    const qdma::region shared = d.allocate(size, qdma::rights::read_write);
    std::vector<std::byte> memory(size);
    const qdma::region own = d.register_memory(memory, qdma::rights::read_write);
    const std::array both{shared.id(), own.id()};
    d.start(say(both));
    for (;;) ::pause();
  }
  if (args[1] == "parent") {
    const pid_t child = ::fork();
    if (child == 0) {
      ::sleep(300);
      ::_exit(0);
    }
    d.start(say(child));
    for (;;) ::pause();
  }
  const qdma::remote_region there{owner, std::stoull(args[4]), std::stoull(args[5])};
  const qdma::region here = d.allocate(there.size, qdma::rights::none);
  for (unsigned char n = 1;; ++n) {
    std::ranges::fill(here.bytes(), static_cast<std::byte>(n));
    d.start(
        qdma::rdma_write(here, 0, there, 0, there.size).then(say(n)).then(qdma::signal(done.id())));
    co_await done;
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    options o = options::from_environment();
    o.standalone = true;
    context ctx(o);
    run(ctx, play(ctx, {argv + 1, argv + argc}));
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "qdma_peer: %s\n", e.what());
    return 1;
  }
}
