// SPDX-License-Identifier: Apache-2.0
// says: static T get(weft::source&)
#include <string>
#include <utility>

#include <weft/topic.hpp>
#include <weft/weft.hpp>

using namespace weft;

class named {
 public:
  explicit named(std::string n = {}) : name_(std::move(n)) {}

 private:
  std::string name_;
};

task<void> publish_to(context& ctx) {
#ifndef WRONG
  publisher<std::string> out(ctx, "names");
#else
  publisher<named> out(ctx, "names");
#endif
  out.close();
  co_return;
}
