// SPDX-License-Identifier: Apache-2.0
// Another user of this host attacks the socket of a qdma device.
#include <optional>

#include <weft/qdma.hpp>
#include <weft/weft.hpp>

#include "outsiders.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

namespace fault {

namespace {

using weft::task;
namespace qdma = weft::qdma;

weft::options lone() {
  weft::options o = weft::options::from_environment();
  o.standalone = true;
  return o;
}

task<void> receive(qdma::queue& q, weft::mutable_buffer into) {
  static_cast<void>(co_await weft::within(std::chrono::seconds(60), q.receive(into)));
}

}  // namespace

TEST_CASE("outsider: qdma devices meet while another user attacks their sockets", "[outsider]") {
  if (const std::string why = why_no_outsider(); !why.empty()) return weft::tests::skip(why);
  enter_private_world();
  {
    weft::context first(lone());
    qdma::device one = qdma::device::open(first);
    outsider other("attack", abstract_names(::getpid()));
    CHECK(other.attacks(20));
    for (int i = 0; i != 5; ++i) {
      weft::context second(lone());
      qdma::device two = weft::run(second, qdma::device::join(second, one.where()));
      qdma::queue in = two.open_queue();
      const std::byte word{7};
      one.start(qdma::post(in.id(), {&word, 1}));
      std::byte box{};
      weft::run(second, receive(in, {&box, 1}));
      CHECK(box == word);
    }
    CHECK(other.attacks(1));
  }
  CHECK(leftovers() == "");
}

}  // namespace fault
