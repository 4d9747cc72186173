// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <string>
#include <vector>
#include <weft/weft.hpp>

using namespace weft;

constexpr tag place{1}, samples{2}, names{3};

struct point {  // trivially copyable: travels as it is
  double x, y;
};

struct city {  // has a string: wire<city> says what travels
  std::string name;
  point where;
};

template <>
struct weft::wire<city> {
  static void put(sink& to, const city& c) { to << c.name << c.where; }
  static city get(source& from) {
    std::string name = from.get<std::string>();
    return city{std::move(name), from.get<point>()};
  }
};

task<void> play(context& ctx) {
  group world = ctx.world();
  if (world.rank() == 1) {
    city home{"Weimar", {50.98, 11.33}};
    std::vector<int> numbers{1, 4, 9};
    co_await world[0].send_value(place, home.where);
    co_await world[0].send_value(names, home);
    co_await world[0].send_value(samples, numbers);
  } else if (world.rank() == 0) {
    city c = co_await world[1].recv_value<city>(names);  // the tag selects, not the order
    std::printf("%s\n", c.name.c_str());

    point p = co_await world[1].recv_value<point>(place);
    std::printf("%.2f %.2f\n", p.x, p.y);

    std::vector<int> numbers;  // gets the length of the message
    received about = co_await ctx.recv_value(any_tag, numbers);
    std::printf("%zu numbers with tag %d from rank %u\n", numbers.size(), int(about.tag.value),
                about.source);
  }
}

int main() { return run_main(play); }
