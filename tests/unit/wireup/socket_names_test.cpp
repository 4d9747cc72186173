// SPDX-License-Identifier: Apache-2.0
// Unix sockets with names in a folder.
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <weft/error.hpp>

#include "runtime/descriptors/remote_wakeup.hpp"
#include "support/catch.hpp"
#include "wireup/sockets/socket_names.hpp"

namespace weft::wireup::test {

namespace {

/// A new empty folder, which ends with it.
struct folder {
  folder() {
    std::string name = std::filesystem::temp_directory_path() / "weft-test-XXXXXX";
    REQUIRE(::mkdtemp(name.data()));
    path = name;
  }
  ~folder() { std::filesystem::remove_all(path); }
  std::size_t files() const {
    const std::filesystem::directory_iterator all(path);
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  std::filesystem::path path;
};

void check_refused(const std::string& path, const char* words) {
  CHECK_THROWS_WITH(socket_names(path, false),
                    weft::tests::contains("WEFT_SOCKET_DIR") && weft::tests::contains(words));
}

}  // namespace

TEST_CASE("socket names: a name in a folder is found while its process listens") {
  const folder here;
  const socket_names names(here.path, false);
  const std::string name = random_socket_name();
  CHECK(names.connect(name).error == ECONNREFUSED);
  {
    const listening made = names.listen(name);
    REQUIRE(made.fd);
    CHECK(here.files() == 1);
    CHECK(names.connect(name).fd);
    CHECK(names.listener_at(name)->pid == ::getpid());
    CHECK(names.listen(name).error == EADDRINUSE);
    CHECK_FALSE(socket_names().connect(name).fd);  // it is no abstract name
  }
  CHECK(here.files() == 0);
}

TEST_CASE("socket names: what a killed process has left goes when it is found") {
  const folder here;
  const socket_names names(here.path, false);
  const std::string asked = random_socket_name(), swept = random_socket_name();
  const pid_t child = ::fork();
  if (child == 0) {
    const listening one = names.listen(asked), other = names.listen(swept);
    const listening door = names.listen("weft-door:0:service");
    const runtime::wakeup_receiver bell(names.folder());
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(here.files() == 4);
  CHECK(names.connect(asked).error == ECONNREFUSED);
  CHECK(here.files() == 3);
  {
    const listening again = names.listen("weft-door:0:service");
    CHECK(again.fd);
    CHECK(here.files() == 1);
  }
  CHECK(here.files() == 0);
}

TEST_CASE("socket names: a name whose process died before it listened goes later") {
  const folder here;
  const socket_names names(here.path, false);
  const std::string fresh = here.path / (random_socket_name() + ".new");
  const std::string old = here.path / (random_socket_name() + ".new");
  const std::string foreign = here.path / "weft-notes.new";
  for (const std::string& path : {fresh, old}) CHECK(listen_at_path(path).fd);
  std::ofstream(foreign) << "x";
  const timeval long_ago{1, 0};
  const std::array<timeval, 2> times{long_ago, long_ago};
  for (const std::string& file : {old, foreign}) REQUIRE(::utimes(file.c_str(), times.data()) == 0);
  CHECK(names.listen(random_socket_name()).fd);
  CHECK(std::filesystem::exists(fresh));
  CHECK_FALSE(std::filesystem::exists(old));
  CHECK(std::filesystem::exists(foreign));
}

TEST_CASE("socket names: files of others stay, and a name that another socket has now") {
  const folder here;
  const socket_names names(here.path, false);
  const std::string taken = random_socket_name();
  std::ofstream(here.path / taken) << "x";
  CHECK(names.listen(taken).error == EEXIST);
  CHECK(names.connect(taken).error == ECONNREFUSED);
  CHECK(std::filesystem::exists(here.path / taken));
  const std::string door = "weft-door:0:service";
  std::optional<listening> first(names.listen(door));
  std::filesystem::remove(here.path / door);
  const listening second = names.listen(door);
  REQUIRE(second.fd);
  first.reset();
  CHECK(names.connect(door).fd);
}

TEST_CASE("socket names: many that were left go in the end, however many live") {
  const folder here;
  const socket_names names(here.path, false);
  std::vector<listening> living;
  for (int i = 0; i != 20; ++i) living.push_back(names.listen(random_socket_name()));
  for (int i = 0; i != 20; ++i) listen_at_path(here.path / ("weft-door:0:" + std::to_string(i)));
  for (int i = 0; i != 200 && here.files() > 20; ++i) names.listen(random_socket_name());
  CHECK(here.files() == 20);
}

TEST_CASE("socket names: a child that ends leaves its parent's names") {
  const folder here;
  const socket_names names(here.path, false);
  listening made = names.listen(random_socket_name());
  const pid_t child = ::fork();
  if (child == 0) {
    made = {};
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(here.files() == 1);
}

TEST_CASE("socket names: other users may connect only where they are asked for the key") {
  const folder here;
  const auto mode = [&](bool for_all) {
    const std::string name = random_socket_name();
    const listening made = socket_names(here.path, for_all).listen(name);
    struct stat about {};
    REQUIRE(::stat((here.path / name).c_str(), &about) == 0);
    return about.st_mode & 0777;
  };
  CHECK(mode(true) == 0666);
  CHECK((mode(false) & 0022) == 0);
  CHECK(socket_names(here.path, true).admit_by_key());
  CHECK_FALSE(socket_names(here.path, false).admit_by_key());
  CHECK_FALSE(socket_names("", true).admit_by_key());
}

TEST_CASE("socket names: what cannot be such a folder, or such a name, is refused") {
  const folder here;
  check_refused("relative", "is no absolute path");
  check_refused("/nowhere/at/all", "is not there");
  check_refused("/proc/self/status", "is no folder");
  check_refused("/" + std::string(64, 'x'), "at most 64 bytes");
  const socket_names names(std::string(here.path) + "//", false);
  CHECK(names.listen("weft-door:0:a/b").error == EINVAL);
  CHECK(names.listen(std::string(100, 'x')).error == ENAMETOOLONG);
  CHECK(names.connect("../x").error == ECONNREFUSED);
}

TEST_CASE("socket names: a bell in a folder rings, and is gone with its owner") {
  const folder here;
  const socket_names names(here.path, false);
  {
    runtime::wakeup_receiver ear(names.folder());
    runtime::wakeup_sender rope(names.folder()), elsewhere;
    char heard = 0;
    elsewhere.ring(ear.address());
    CHECK(::recv(ear.fd(), &heard, 1, MSG_DONTWAIT) < 0);
    rope.ring(ear.address());
    CHECK(::recv(ear.fd(), &heard, 1, MSG_DONTWAIT) == 1);
    CHECK(here.files() == 1);
  }
  CHECK(here.files() == 0);
}

}  // namespace weft::wireup::test
