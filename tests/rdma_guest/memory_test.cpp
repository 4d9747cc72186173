// SPDX-License-Identifier: Apache-2.0
// The verbs transport on a device of libibverbs: one side reads and writes memory of the other. A
// key is forged or a process dies in the middle.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "devices.hpp"

using namespace ends;

namespace {

constexpr std::size_t much = 32u << 20;

/// What connects two processes beside the device.
class packet_socket {
 public:
  explicit packet_socket(int fd) : fd_(fd) {}
  ~packet_socket() { ::close(fd_); }
  packet_socket(const packet_socket&) = delete;
  packet_socket& operator=(const packet_socket&) = delete;

  void say(std::span<const std::byte> bytes) const {
    if (::send(fd_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      throw std::runtime_error("the other process is gone");
  }
  bytes hear() const {
    bytes b(4096);
    const ssize_t n = ::recv(fd_, b.data(), b.size(), 0);
    b.resize(n > 0 ? static_cast<std::size_t>(n) : 0);
    return b;
  }

 private:
  int fd_;
};

/// Another process: shows memory, and waits for its end.
[[noreturn]] void show_memory(int fd) {
  const packet_socket to(fd);
  try {
    plain_end e(device_of());
    const wireup_message card{0, to.hear(), {}};
    wireup_message answer;
    if (!e.accept({0, card.bytes, {}}, answer).empty()) ::_exit(1);
    e.open();
    if (!e.opened({0, card.bytes, {}}).empty()) ::_exit(1);
    to.say(answer.bytes);
    const bytes memory(much, std::byte{7});
    const std::uint64_t at = e.expose(memory).value().packed();
    to.say(std::as_bytes(std::span(&at, 1)));
    for (;;) ::pause();
  } catch (const std::exception&) {
    ::_exit(1);
  }
}

}  // namespace

TEST_CASE("device: memory is read and written, of all sizes, wherever it begins") {
  auto one = device_of(), two = device_of();
  if (!one || !two) return;
  plain_end a(std::move(one)), b(std::move(two));
  connect(a, b);
  connect(b, a);
  bytes there(9u << 20), here(9u << 20);
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{4097}, std::size_t{100'000}, std::size_t{9'000'001}}) {
    for (const std::size_t from : {std::size_t{0}, std::size_t{1}, std::size_t{4095}}) {
      const bytes data = pattern(size, size + from);
      const mutable_buffer far = mutable_buffer(there).subspan(from, size);
      const auto writable = b.expect(far);
      REQUIRE(writable);
      REQUIRE(a.put(data, *writable, 1) == post::posted);
      REQUIRE(eventually(a, b, [&] { return a.in.transferred.size() == 1; }));
      CHECK(std::equal(data.begin(), data.end(), far.begin()));
      b.withdraw(*writable);
      const auto readable = b.expose(far);
      REQUIRE(readable);
      const mutable_buffer near = mutable_buffer(here).subspan(from / 2, size);
      REQUIRE(a.get(near, *readable, 2) == post::posted);
      REQUIRE(eventually(a, b, [&] { return a.in.transferred.size() == 2; }));
      CHECK(std::equal(data.begin(), data.end(), near.begin()));
      b.withdraw(*readable);
      a.in.transferred.clear();
    }
  }
  CHECK(a.in.broken.empty());
}

TEST_CASE("device: what is sent behind a write finds its bytes there") {
  auto one = device_of(), two = device_of();
  if (!one || !two) return;
  plain_end a(std::move(one)), b(std::move(two));
  connect(a, b);
  connect(b, a);
  bytes there(1u << 20);
  const auto at = b.expect(there);
  REQUIRE(at);
  for (std::uint64_t i = 1; i <= 20; ++i) {
    const bytes data = pattern(there.size(), i);
    REQUIRE(a.put(data, *at, i) == post::posted);
    REQUIRE(a.send(numbered(i)) == post::done);
    REQUIRE(eventually(a, b, [&] { return b.in.frames.size() == i; }));
    if (there != data) FAIL("round " << i);
    REQUIRE(eventually(a, b, [&] { return a.in.transferred.size() == i; }));
  }
}

TEST_CASE("device: memory that was unmapped is read as it is now, once that was told") {
  verbs::settings keeping;
  keeping.regions.caching = registration_caching::on;
  auto one = device_of(), two = device_of();
  if (!one || !two) return;
  plain_end a(std::move(one)), b(std::move(two), keeping);
  connect(a, b);
  connect(b, a);
  constexpr std::size_t size = 64 * 1024;
  const auto map = [](void* where) {
    void* const at = ::mmap(where, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | (where ? MAP_FIXED : 0), -1, 0);
    REQUIRE(at != MAP_FAILED);
    return std::span(static_cast<std::byte*>(at), size);
  };
  const auto read = [&](const_buffer from) {
    bytes into(size);
    const auto at = b.expose(from);
    REQUIRE(at);
    REQUIRE(a.get(into, *at) == post::posted);
    const std::size_t before = a.in.transferred.size();
    REQUIRE(eventually(a, b, [&] { return a.in.transferred.size() > before; }));
    b.withdraw(*at);
    return into;
  };
  const auto memory = map(nullptr);
  std::fill(memory.begin(), memory.end(), std::byte{1});
  CHECK(read(memory) == bytes(size, std::byte{1}));
  {
    const engine::holder hold(b.turns);
    b.transport.invalidate_registrations(memory);
  }
  map(memory.data());
  std::fill(memory.begin(), memory.end(), std::byte{2});
  CHECK(read(memory) == bytes(size, std::byte{2}));
  b.let_go();
  ::munmap(memory.data(), size);
}

TEST_CASE("device: a forged key is a remote access error of who uses it, and harms nobody else") {
  auto one = device_of(), two = device_of(), three = device_of();
  if (!one || !two || !three) return;
  plain_end a(std::move(one), impatient()), b(std::move(two)), other(std::move(three));
  connect(a, b);
  connect(b, a);
  recorder second;
  {
    const wireup_message offer = other.open();
    wireup_message answer;
    const engine::holder hold(b.turns);
    REQUIRE(b.transport.accept(second, b.who, {0, offer.bytes, {}}, answer) == "");
    REQUIRE(other.link->opened(std::move(answer)) == "");
  }
  bytes there = pattern(100'000), here(100'000);
  const bytes before = there;
  remote_address at = b.expose(there).value();
  bool write = false;
  SECTION("another key") { at.offset ^= std::uint64_t{1} << 32; }
  SECTION("beyond the end") { at.offset += 8192; }
  SECTION("a write of what may be read") { write = true; }
  REQUIRE((write ? a.put(here, at) : a.get(here, at)) == post::posted);
  REQUIRE(eventually(a, b, [&] { return !a.in.broken.empty(); }));
  CHECK(a.in.broken == std::vector<errc>{errc::peer_lost});
  CHECK(a.link->trouble().find("remote access error") != std::string::npos);
  CHECK(there == before);
  REQUIRE(other.send(numbered(1)) == post::done);
  REQUIRE(eventually(other, b, [&] { return second.frames.size() == 1; }));
  CHECK(second.broken.empty());
  other.drop_link();
  const engine::holder hold(b.turns);
  b.transport.forget(second);
}

TEST_CASE("device: a process that is killed while its memory is read is lost, and only it") {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0);
  const pid_t child = ::fork();  // before any device is open
  if (child == 0) {
    ::close(ends[0]);
    show_memory(ends[1]);
  }
  ::close(ends[1]);
  const packet_socket to(ends[0]);
  auto one = device_of(), two = device_of();
  bytes here(much);
  if (one && two) {
    plain_end a(std::move(one), impatient()), bystander(std::move(two));
    const wireup_message offer = a.open();
    to.say(offer.bytes);
    const bytes card = to.hear();
    REQUIRE(a.opened({0, card, {}}) == "");
    wireup_message answer;
    REQUIRE(a.accept({0, card, {}}, answer) == "");
    const bytes name = to.hear();
    std::uint64_t at = 0;
    REQUIRE(name.size() == sizeof at);
    std::memcpy(&at, name.data(), sizeof at);
    recorder second;
    {
      const wireup_message of_other = bystander.open();
      wireup_message welcome;
      const engine::holder hold(a.turns);
      REQUIRE(a.transport.accept(second, a.who, {0, of_other.bytes, {}}, welcome) == "");
      REQUIRE(bystander.link->opened(std::move(welcome)) == "");
    }

    REQUIRE(a.get(here, remote_address::unpack(at), 1) == post::posted);
    const volatile std::byte& first = here[0];
    REQUIRE(eventually(a, bystander, [&] { return first == std::byte{7}; }));
    ::kill(child, SIGKILL);
    // A device may have read all of it by then: it reads again until the other process is gone.
    REQUIRE(eventually(a, bystander, [&] {
      if (a.in.broken.empty() && !a.in.transferred.empty()) {
        a.in.transferred.clear();
        a.get(here, remote_address::unpack(at), 1);
      }
      return !a.in.broken.empty();
    }));
    CHECK(a.in.broken == std::vector<errc>{errc::peer_lost});
    CHECK(a.link->trouble() != "");
    a.let_go();
    here.assign(much, std::byte{1});
    REQUIRE(bystander.send(numbered(1)) == post::done);
    REQUIRE(eventually(a, bystander, [&] { return second.frames.size() == 1; }));
    CHECK(second.broken.empty());
    CHECK(here == bytes(much, std::byte{1}));
    bystander.drop_link();
    const engine::holder hold(a.turns);
    a.transport.forget(second);
  } else {
    ::kill(child, SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
}
