// SPDX-License-Identifier: Apache-2.0
// Two shm transports of one process, on the test's thread.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "runtime/progress/engine.hpp"
#include "support/catch.hpp"
#include "transports/shm/transport.hpp"

namespace weft::tests::shm_ends {

using namespace weft::transports;
using namespace weft::transports::shm;
using weft::const_buffer;
using weft::mutable_buffer;
namespace runtime = weft::runtime;

inline constexpr std::size_t page = 4096;

class hearer final : public frame_sink {
 public:
  std::map<std::uint64_t, bool> transferred;
  int frames = 0;
  bool on_frame(const frame_header&, const frame_extension*, const std::byte*) noexcept override {
    ++frames;
    return true;
  }
  void on_transferred(std::uint64_t cookie, bool well) noexcept override {
    transferred[cookie] = well;
  }
  void on_writable() noexcept override {}
  void on_broken(weft::errc) noexcept override {}
};

/// One end, with the notes that were sent to it and not taken.
struct side {
  explicit side(copy_method way, runtime::engine* looks_after = nullptr)
      : transport(own_bell, way, 7, looks_after) {}
  runtime::doorbell own_bell{false};
  shm_transport transport;
  hearer peer;
  std::deque<wireup_message> notes;
  std::unique_ptr<weft::transports::link> out;
};

struct two {
  using life = std::shared_ptr<const unique_fd>;
  /// \param process_of_b its number, as `a` knows it
  /// \param of_both readable from the end of both on; null: that is not known
  /// \param of_b its engine; null: `b` counts as in a pass
  explicit two(copy_method way = copy_method::automatic, pid_t process_of_b = ::getpid(),
               const life& of_both = {}, runtime::engine* of_b = nullptr)
      : a(way), b(way, of_b) {
    connect(a, b, process_of_b, of_both);
    connect(b, a, ::getpid(), of_both);
  }
  ~two() {
    for (side* s : {&a, &b}) {
      s->transport.forget(s->peer);
      s->out.reset();
    }
  }
  static void connect(side& from, side& to, pid_t process_of_to = ::getpid(),
                      const life& of_both = {}) {
    const auto who = [&of_both](side& other, pid_t process) {
      counterpart c{process, [&other](wireup_message p) { other.notes.push_back(std::move(p)); }};
      c.process = of_both;
      return c;
    };
    wireup_message offer, answer;
    from.out = from.transport.open(from.peer, who(to, process_of_to), offer);
    REQUIRE(to.transport.accept(to.peer, who(from, ::getpid()), std::move(offer), answer).empty());
    REQUIRE(from.out->opened(std::move(answer)).empty());
  }
  void take_notes() {
    while (!a.notes.empty() || !b.notes.empty())
      for (side* s : {&a, &b})
        while (!s->notes.empty()) {
          wireup_message p = std::move(s->notes.front());
          s->notes.pop_front();
          s->transport.note(s->peer, std::move(p));
        }
  }
  side a, b;
};

}  // namespace weft::tests::shm_ends

using namespace weft::tests::shm_ends;
