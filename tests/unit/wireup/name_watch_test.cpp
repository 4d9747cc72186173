// SPDX-License-Identifier: Apache-2.0
// A socket's file that is removed under its process is noticed, and said once.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "node.hpp"
#include "support/catch.hpp"
#include "wireup/auth/job_key.hpp"
#include "wireup/sockets/locator.hpp"
#include "wireup/sockets/socket_names.hpp"

namespace weft::wireup::test {

namespace {

struct shared_folder {
  shared_folder() {
    std::string name = std::filesystem::temp_directory_path() / "weft-test-XXXXXX";
    REQUIRE(::mkdtemp(name.data()));
    path = name;
  }
  ~shared_folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

tcp_settings in(const shared_folder& where) {
  tcp_settings s;
  s.names = socket_names(where.path, false);
  return s;
}

std::filesystem::path socket_of(node& of, const shared_folder& where) {
  return where.path / parse_locator(of->self().locator)->socket_name;
}

}  // namespace

TEST_CASE("name watch: a folder that is removed under a context") {
  const shared_folder here;
  node one({}, in(here)), two({}, in(here));
  REQUIRE(one.connect(two->self().locator).channel);
  std::filesystem::remove_all(here.path);
  for (node* each : {&one, &two})
    CHECK_THAT(each->notices.next(), weft::tests::contains("WEFT_SOCKET_DIR") &&
                                         weft::tests::contains(here.path.string()));
}

TEST_CASE("name watch: a socket that is removed, moved or replaced, but not one that is changed") {
  const shared_folder here;
  node one({}, in(here)), two({}, in(here)), three({}, in(here));
  const std::filesystem::path first = socket_of(one, here), second = socket_of(two, here),
                              third = socket_of(three, here);
  REQUIRE(std::filesystem::exists(first));
  REQUIRE(::chmod(first.c_str(), 0600) == 0);
  std::filesystem::remove(second);
  CHECK_THAT(two.notices.next(), weft::tests::contains(second.string()));
  std::filesystem::rename(third, here.path / "elsewhere");
  CHECK_THAT(three.notices.next(), weft::tests::contains(third.string()));
  CHECK(one.notices.empty());
  // It is said once, and the context's end removes no file of others.
  CHECK(two.notices.empty());
  std::filesystem::create_hard_link(here.path / "elsewhere", second);
}

TEST_CASE("name watch: a context that ends says nothing") {
  const shared_folder here;
  {
    node one({}, in(here));
    CHECK(std::filesystem::exists(socket_of(one, here)));
    one.manager.reset();
    CHECK(one.notices.empty());
  }
  CHECK(std::filesystem::is_empty(here.path));
}

}  // namespace weft::wireup::test
