// SPDX-License-Identifier: Apache-2.0
// A flag segment of three members, of which one writes any word of it between what the others do.
// The two reach nothing out of bounds, and each of their waits ends once.
#include <array>
#include <optional>

#include "runtime/completion/completion_queue.hpp"
#include "runtime/descriptors/memory_file.hpp"
#include "runtime/flags/flag_waits.hpp"
#include "target.hpp"

namespace weft::fuzz {

namespace {

using namespace runtime;

constexpr std::uint32_t flags = 6;
constexpr flag_layout layout{3, flags, 128};

struct member final : flag_wait_service {
  member(const unique_fd& memory, std::uint32_t self) : segment(memory, layout, self, &bell) {}
  ~member() { all.forget(segment); }
  bool start(flag_operation& op) noexcept override { return !all.add(op); }
  void cancel(flag_operation& op) noexcept override { all.cancel(op); }

  doorbell bell{false};
  flag_segment segment;
  completion_queue ended;
  flag_waits all{ended};
};

struct wait final : flag_operation {
  explicit wait(const flag_request& r)
      : flag_operation(r, [](operation& op) noexcept { ++static_cast<wait&>(op).ends; }) {}
  unsigned ends = 0;
};

class waits {
 public:
  explicit waits(member& of) : of_(of) {}

  void start(std::size_t place, flag_range range, std::uint64_t value) {
    std::optional<wait>& w = places_[place % places_.size()];
    if (w && w->ends == 0) return of_.cancel(*w), settle();
    w.emplace(flag_request{&of_, &of_.segment, range, value});
    if (w->start())
      w->complete();
    else
      of_.ended.add_pending(*w);
  }
  void settle() {
    of_.all.poll();
    operation_list done = of_.ended.take_home();
    while (operation* op = done.pop()) op->complete();
  }
  void end_all() {
    of_.all.fail(of_.segment, errc::peer_lost);
    settle();
    check(of_.ended.pending() == 0, "no wait is pending");
    for (const std::optional<wait>& w : places_) check(!w || w->ends == 1, "a wait ends once");
  }

 private:
  member& of_;
  std::array<std::optional<wait>, 4> places_;
};

}  // namespace

void run(input in) {
  const unique_fd memory = flag_segment::make(layout);
  const mapping of_liar = map_own(memory, layout.size());
  const std::span<std::byte> words(static_cast<std::byte*>(of_liar.get()), layout.user_at());
  member a(memory, 0), b(memory, 1);
  waits of_a(a), of_b(b);
  while (!in.empty()) {
    const auto what = in.get<std::uint8_t>();
    member& one = what % 2 == 0 ? a : b;
    waits& its = what % 2 == 0 ? of_a : of_b;
    const std::uint32_t n = in.get<std::uint8_t>() % flags;
    switch (what / 2 % 8) {
      case 0:
      case 1: {  // the beginning has the words that are read most
        const std::size_t at = in.get<std::uint16_t>() % (words.size() / 8) * 8;
        const auto word = in.get<std::uint64_t>();
        std::memcpy(words.data() + at, &word, sizeof word);
        break;
      }
      case 2:
        one.segment.raise_to(one.segment.at(n), in.get<std::uint16_t>());
        break;
      case 3:
        one.segment.add(one.segment.at(n), in.get<std::uint8_t>());
        break;
      case 4:
        its.start(what / 16, {n, in.get<std::uint8_t>() % (flags - n + 1)},
                  in.get<std::uint16_t>());
        break;
      case 5:
        one.all.announce(what / 16 % 2 == 0);
        break;
      case 6:
        static_cast<void>(one.all.any_has_come());
        one.all.withdraw();
        break;
      default:
        static_cast<void>(one.segment.is_whole());
        static_cast<void>(one.segment.is_refused());
        static_cast<void>(flag_waits::lacks(one.segment, n, 2));
        its.settle();
    }
  }
  of_a.end_all();
  of_b.end_all();
}

}  // namespace weft::fuzz
