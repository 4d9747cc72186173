// SPDX-License-Identifier: Apache-2.0
// says: <weft/interop/cereal.hpp>
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
  co_await peer.recv_value<std::string>(tag{1});
#else
  co_await peer.recv_value<named>(tag{1});
#endif
}
