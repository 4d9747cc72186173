// SPDX-License-Identifier: Apache-2.0
// says: must not be noexcept
#include <string>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

struct named {
  std::string name;
};
template <>
struct weft::wire<named> {
#ifndef WRONG
  static void put(sink& to, const named& n) { to << n.name; }
#else
  static void put(sink& to, const named& n) noexcept { to << n.name; }
#endif
  static named get(source& from) { return {from.get<std::string>()}; }
};

task<void> talk(context& ctx, endpoint peer) {
  static_cast<void>(ctx);
#ifndef WRONG
  co_await peer.send_value(tag{1}, named{"right"});
#else
  co_await peer.send_value(tag{1}, named{"wrong"});
#endif
}
