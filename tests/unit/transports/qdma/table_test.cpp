// SPDX-License-Identifier: Apache-2.0
// The table of contexts: claimed, released, reclaimed.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/catch.hpp"
#include "transports/qdma/table.hpp"

namespace {

namespace qd = weft::transports::qdma;

/// Calls `f` in another process, which is killed after that.
template <class F>
void in_a_process_that_is_killed(F f) {
  const pid_t child = ::fork();
  if (child == 0) {
    f();
    ::kill(::getpid(), SIGKILL);
  }
  REQUIRE(child > 0);
  ::waitpid(child, nullptr, 0);
}

TEST_CASE("qdma table: an id that was given back never names the next one", "[qdma]") {
  qd::table t = qd::table::make();
  const qd::vpid first = t.claim({1, 2});
  CHECK(t.lives(first));
  CHECK(t.name_of(first) == qd::socket_id{1, 2});
  t.release(first);
  CHECK_FALSE(t.lives(first));
  const qd::vpid second = t.claim({3, 4});
  CHECK(qd::index_of(second) == qd::index_of(first));
  CHECK(second != first);
  CHECK_FALSE(t.lives(first));
  CHECK(t.name_of(first) == qd::socket_id{});
  t.release(first);  // has no effect on its successor
  CHECK(t.lives(second));
  CHECK_FALSE(t.lives(0));
}

TEST_CASE("qdma table: what the dead have left is claimed again", "[qdma]") {
  qd::table t = qd::table::make();
  for (int i = 0; i != 20; ++i)
    in_a_process_that_is_killed([&] {
      t.claim({1, 1});
      t.claim({2, 2});
    });
  CHECK(t.claimed() == 2);  // each removed the entries that those before it had left
  CHECK(t.sweep() == 2);
  CHECK(t.claimed() == 0);
}

TEST_CASE("qdma table: somebody else with the process number of the dead does not keep its entry",
          "[qdma]") {
  qd::table t = qd::table::make();
  const qd::vpid mine = t.claim({1, 2});
  weft::runtime::mapping view =
      weft::runtime::map_own(weft::runtime::duplicate(t.fd()), sizeof(qd::table_memory));
  qd::table_entry& e = static_cast<qd::table_memory*>(view.get())->entry[qd::index_of(mine)];
  // As if an earlier process with this number had claimed it.
  qd::entry_word w = qd::entry_word::unpack(e.word.load());
  w.started -= 1;
  e.word.store(w.packed());
  CHECK_FALSE(t.lives(mine));
  CHECK(t.sweep() == 1);
}

TEST_CASE("qdma table: full, with an error; and used up entries are not given again", "[qdma]") {
  qd::table t = qd::table::make();
  weft::runtime::mapping view =
      weft::runtime::map_own(weft::runtime::duplicate(t.fd()), sizeof(qd::table_memory));
  auto* memory = static_cast<qd::table_memory*>(view.get());
  for (qd::table_entry& e : memory->entry)
    e.word.store(qd::entry_word{qd::last_generation, 0, 0, false}.packed());
  CHECK_THROWS_WITH(t.claim({1, 2}), weft::tests::contains("4096 entries"));
  memory->entry[7].word.store(qd::entry_word{qd::last_generation - 1, 0, 0, false}.packed());
  const qd::vpid last = t.claim({1, 2});
  CHECK(last == qd::vpid_of(qd::last_generation, 7));
}

TEST_CASE("qdma table: memory that is no table is refused", "[qdma]") {
  CHECK_THROWS_AS(qd::table::from(weft::runtime::make_memory_file("t", 4096)), weft::error);
  CHECK_THROWS_AS(qd::table::from(weft::runtime::make_memory_file("t", sizeof(qd::table_memory))),
                  weft::error);
}

}  // namespace
