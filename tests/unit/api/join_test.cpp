// SPDX-License-Identifier: Apache-2.0
// Why a process cannot join a job: each reason is told, with what to do.
#include <catch2/catch.hpp>

#include <string>

#include <weft/weft.hpp>

using namespace weft;

namespace {

options with_key(const std::string& key) {
  options o;
  o.job_key = key;
  return o;
}

const std::string our_key(32, 'a');

/// Expects that joining fails. \return what is said
std::string why_not(const std::string& address, errc kind, const options& chosen) {
  try {
    const context never = join(address, chosen);
  } catch (const error& e) {
    CHECK(e.kind() == kind);
    return e.what();
  }
  FAIL("joined at " << address);
  return {};
}

}  // namespace

TEST_CASE("join: what is no address is said to be none") {
  using Catch::Contains;
  CHECK_THAT(why_not("nonsense", errc::invalid_argument, {}), Contains("nonsense"));
  CHECK_THAT(why_not("tcp://host", errc::invalid_argument, with_key(our_key)),
             Contains("tcp://host"));
}

TEST_CASE("join: where nobody listens, that is said with the address") {
  using Catch::Contains;
  const std::string local = "unix://weft-join-nobody";
  CHECK_THAT(why_not(local, errc::refused, {}), Contains("nobody listens") && Contains(local));
  std::string left;
  {
    context gone(with_key(our_key));
    left = membership(gone).open("tcp://127.0.0.1:0");
  }
  CHECK_THAT(why_not(left, errc::refused, with_key(our_key)), Contains(left));
}

TEST_CASE("join: a process without the job's key is told so") {
  using Catch::Contains;
  context host(with_key(our_key));
  const std::string door = membership(host).open("tcp://127.0.0.1:0");
  CHECK_THAT(why_not(door, errc::refused, with_key(std::string(32, 'b'))), Contains("key"));
  CHECK_THAT(why_not(door, errc::unreachable, {}), Contains("WEFT_JOB_KEY"));
  context good = join(door, with_key(our_key));
  CHECK(membership(good).rank() == 1);
}
