// SPDX-License-Identifier: Apache-2.0
// A full file system: a program that cannot write a file says so once, and still computes its
// result.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "support/catch.hpp"
#include "support/skip.hpp"
#include "world.hpp"

using namespace fault;

namespace {

const std::string full = "No space left on device";

/// A folder in which the files with the given names are on a full device.
class full_files {
 public:
  explicit full_files(std::initializer_list<const char*> names) {
    char pattern[] = "/tmp/weft-full-XXXXXX";
    REQUIRE(::mkdtemp(pattern));
    folder_ = pattern;
    for (const char* name : names) std::filesystem::create_symlink("/dev/full", folder_ / name);
  }
  ~full_files() { std::filesystem::remove_all(folder_); }
  full_files(const full_files&) = delete;
  full_files& operator=(const full_files&) = delete;

  std::string operator/(const char* name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

}  // namespace

TEST_CASE("full disk: a trace that cannot be kept is told, and disturbs nothing") {
  const full_files files({"trace.json"});
  const outcome o = run({bin + "/tests/alone"}, {"WEFT_TRACE=" + (files / "trace.json")});
  CAPTURE(o.output);
  CHECK(o.status == 0);
  CHECK(count(o.output, full) == 1);
  CHECK(count(o.output, files / "trace.json") == 1);
}

TEST_CASE("full disk: heat says that its picture cannot be written") {
  if (!std::filesystem::exists(bin + "/heat"))
    return weft::tests::skip("the samples are not built (WEFT_BUILD_SAMPLES)");
  const full_files files({"out.pgm", "out.png"});
  for (const char* name : {"out.pgm", "out.png"}) {
    const outcome o = run({bin + "/weft-run", "-n", "3", bin + "/heat", "--steps", "5",
                           WEFT_TEST_SOURCE_DIR "/../../samples/heat/picture.pgm", files / name});
    CAPTURE(o.output);
    CHECK(o.status == 1);
    CHECK(count(o.output, full) == 1);
    CHECK(count(o.output, files / name) == 1);
  }
}

TEST_CASE("full disk: weft-run says that the output of its ranks is lost, and lets them go on") {
  const std::string script = "'echo lost; echo lost, too; echo went on >&2'";
  const outcome o = run(
      {"/bin/sh", "-c", "exec " + bin + "/weft-run -n 2 /bin/sh -c " + script + " > /dev/full"});
  CAPTURE(o.output);
  CHECK(o.status == 1);
  CHECK(count(o.output, "went on") == 2);
  CHECK(count(o.output, full) == 1);
}
