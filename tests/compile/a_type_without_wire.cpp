// SPDX-License-Identifier: Apache-2.0
// says: static T get(weft::source&)
#include <string>
#include <utility>
#include <vector>

#include <weft/weft.hpp>

using namespace weft;

class named {
 public:
  explicit named(std::string n = {}) : name_(std::move(n)) {}

 private:
  std::string name_;
};

task<void> talk(context& ctx, endpoint peer) {
  static_cast<void>(ctx);
#ifndef WRONG
  co_await peer.send_value(tag{1}, std::string("a name"));
#else
  co_await peer.send_value(tag{1}, named("a name"));
#endif
}
