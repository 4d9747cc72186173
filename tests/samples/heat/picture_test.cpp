// SPDX-License-Identifier: Apache-2.0

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "picture.hpp"
#include "pictures.hpp"
#include "support/catch.hpp"
#include "support/skip.hpp"

using namespace heat;
using weft::tests::contains;
namespace fs = std::filesystem;

namespace {

/// A temporary folder, removed afterwards.
struct scratch {
  scratch() {
    std::string name = (fs::temp_directory_path() / "heat-XXXXXX").string();
    REQUIRE(mkdtemp(name.data()) != nullptr);
    folder = name;
  }
  ~scratch() { fs::remove_all(folder); }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  fs::path folder;
};

template <class F>
std::string problem(F&& f) {
  try {
    f();
  } catch (const picture_error& e) {
    return e.what();
  }
  return "none";
}

}  // namespace

TEST_CASE("pictures go through files of every name") {
  const scratch s;
  const picture grey = tests::pattern(9, 5, 1, 255), colour = tests::pattern(9, 5, 3, 65535);
  for (const char* name : {"a.pgm", "a.pnm", "a.png"}) {
    write_picture(s.folder / name, grey);
    CHECK(read_picture(s.folder / name) == grey);
  }
  for (const char* name : {"b.ppm", "b.pnm", "b.png"}) {
    write_picture(s.folder / name, colour);
    CHECK(read_picture(s.folder / name) == colour);
  }
}

TEST_CASE("the contents say what a file is, whatever it is called") {
  const scratch s;
  const picture p = tests::pattern(9, 5, 1, 255);
  write_picture(s.folder / "a.png", p);
  fs::rename(s.folder / "a.png", s.folder / "a.pgm");
  CHECK(read_picture(s.folder / "a.pgm") == p);
}

TEST_CASE("a file's problem is told with its name") {
  const scratch s;
  const fs::path bad = s.folder / "bad.pgm";
  std::ofstream(bad) << "P5 10 10 255\nshort";
  CHECK_THAT(problem([&] { read_picture(bad); }),
             contains(bad.string()) && contains("byte 13: truncated"));
  CHECK_THAT(problem([&] { read_picture(s.folder / "none.pgm"); }), contains("No such file"));
  CHECK_THAT(problem([&] { read_picture(s.folder); }), contains("is a directory"));

  const picture grey = tests::pattern(2, 2, 1, 255), colour = tests::pattern(2, 2, 3, 255);
  CHECK_THAT(problem([&] { write_picture(s.folder / "a.jpg", grey); }), contains("must end in"));
  CHECK_THAT(problem([&] { write_picture(s.folder / "a.pgm", colour); }), contains("grey only"));
  CHECK_THAT(problem([&] { write_picture(s.folder / "a.ppm", grey); }), contains("colours"));
  CHECK_THAT(problem([&] { check_writable(s.folder / "a.pgm", 3); }), contains("grey only"));
  CHECK_THAT(problem([&] { write_picture(s.folder / "no" / "a.pgm", grey); }),
             contains("cannot be created: No such file"));
}

TEST_CASE("a full disk is noticed") {
  const scratch s;
  if (!fs::exists("/dev/full")) return weft::tests::skip("no /dev/full here");
  fs::create_symlink("/dev/full", s.folder / "full.pgm");
  CHECK_THAT(problem([&] { write_picture(s.folder / "full.pgm", tests::pattern(9, 9, 1, 255)); }),
             contains("cannot be written: No space left"));
}
