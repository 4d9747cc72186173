// SPDX-License-Identifier: Apache-2.0
// says: static T get(weft::source&)
#include <string>
#include <utility>

#include <weft/weft.hpp>

using namespace weft;

class named {
 public:
  explicit named(std::string n = {}) : name_(std::move(n)) {}

 private:
  std::string name_;
};

handler serve(context& ctx) {
#ifndef WRONG
  return ctx.on<void(std::string)>(am{1}, [](const std::string&) {});
#else
  return ctx.on<void(named)>(am{1}, [](const named&) {});
#endif
}
