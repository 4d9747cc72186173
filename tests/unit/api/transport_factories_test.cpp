// SPDX-License-Identifier: Apache-2.0
// Transports of other libraries: what options::transport_factories may hold, and what goes wrong.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <weft/transport.hpp>
#include <weft/weft.hpp>

#include "support/catch.hpp"

using namespace weft;
using weft::tests::contains;

namespace {

/// A transport that reaches no peer.
class lonely final : public transports::transport {
 public:
  explicit lonely(std::string name) : name_(std::move(name)), traits_{.name = name_} {}
  const transports::traits& traits() const noexcept override { return traits_; }
  std::string reach(bool) const override { return "it reaches no process"; }
  std::unique_ptr<transports::link> open(transports::frame_sink&, const transports::counterpart&,
                                         transports::wireup_message&) override {
    return nullptr;
  }
  std::string accept(transports::frame_sink&, const transports::counterpart&,
                     transports::wireup_message, transports::wireup_message&) override {
    return reach(false);
  }
  void forget(transports::frame_sink&) noexcept override {}
  std::string describe() const override { return "lonely, as " + name_; }

 private:
  const std::string name_;
  const transports::traits traits_;
};

transports::factory named(const std::string& name) {
  return {name, [name](auto&, auto&, auto&) { return std::make_unique<lonely>(name); }};
}

/// What a context with these says that cannot be made.
std::string refusal(std::vector<transports::factory> some) {
  options o;
  o.transport_factories = std::move(some);
  try {
    const context ctx(std::move(o));
    return "it can be made";
  } catch (const error& e) {
    CHECK(e.kind() == errc::invalid_argument);
    return e.what();
  }
}

}  // namespace

TEST_CASE("a context has the transports of other libraries that its options name") {
  options o;
  o.transport_factories = {named("first"), named("second")};
  o.apply("WEFT_TRANSPORTS=self,second,shm");
  o.apply("WEFT_EAGER_LIMIT=second=8k");
  const context ctx(o);
  CHECK_THAT(ctx.describe(), contains("lonely, as second; up to 8192 bytes"));
  CHECK_THAT(ctx.describe(), !contains("as first"));
}

TEST_CASE("a transport of another library may say why it cannot be used here") {
  options o;
  o.transport_factories = {{"fickle", [](auto&, const options& chosen, std::string& why) {
                              why = "there is no card; insert one (" + chosen.wait_set + ")";
                              return std::unique_ptr<transports::transport>();
                            }}};
  o.transports = {"self", "fickle"};
  o.wait_set = "epoll";
  const context ctx(o);
  CHECK_THAT(ctx.describe(), contains("fickle is not used: there is no card; insert one (epoll)"));
}

TEST_CASE("a factory that makes no sense is refused, with the reason") {
  CHECK_THAT(refusal({named("shm")}), contains("weft has a transport of that name"));
  CHECK_THAT(refusal({named("twice"), named("twice")}), contains("two have that name"));
  for (const char* name : {"", "a,b", "a+b", "a=b", "a b"})
    CHECK_THAT(refusal({named(name)}), contains("letters, digits"));
  CHECK_THAT(refusal({{"empty", {}}}), contains("is empty"));
  transports::factory old = named("old");
  old.version = transports::interface_version - 1;
  CHECK_THAT(refusal({old}), contains("compile it with this weft's headers"));
}

TEST_CASE("a transport has the name of its factory") {
  options o;
  o.transport_factories = {
      {"mine", [](auto&, auto&, auto&) { return std::make_unique<lonely>("theirs"); }}};
  o.transports = {"self", "mine"};
  CHECK_THROWS_WITH(context(o), contains("\"mine\" makes a transport") && contains("\"theirs\""));
}

TEST_CASE("an unknown transport is answered with the names that there are") {
  options o;
  o.transport_factories = {named("mine")};
  o.transports = {"self", "theirs"};
  CHECK_THROWS_WITH(context(o), contains("no transport \"theirs\"") &&
                                    contains("self, shm, qdma, verbs, tcp and mine"));
}
