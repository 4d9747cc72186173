// SPDX-License-Identifier: Apache-2.0
// A NIC that cannot be opened says why, and the name of its host.
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "suite.hpp"
#include "support/catch.hpp"

using namespace vipl_suite;

namespace {

/// What a call writes to stderr.
template <class F>
std::string said_by(F call) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  std::fflush(stderr);
  const int kept = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  call();
  std::fflush(stderr);
  ::dup2(kept, STDERR_FILENO);
  ::close(kept);
  ::close(ends[1]);
  std::array<char, 2000> text{};
  const ssize_t n = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  return {text.data(), n > 0 ? static_cast<std::size_t>(n) : 0};
}

}  // namespace

TEST_CASE("nic: a wrong variable of the environment is named on stderr") {
  ::setenv("WEFT_SPIN", "very long", 1);
  VIP_NIC_HANDLE n = nullptr;
  VIP_RETURN result = VIP_SUCCESS;
  const std::string said = said_by([&] { result = VipOpenNic("nic", &n); });
  ::unsetenv("WEFT_SPIN");
  CHECK(result == VIP_INVALID_PARAMETER);
  CHECK_THAT(said, weft::tests::contains("VipOpenNic: ") && weft::tests::contains("WEFT_SPIN"));
}

TEST_CASE("nic: the address of a NIC has the name of its host") {
  side s;
  REQUIRE(VipNSInit(s.nic, nullptr) == VIP_SUCCESS);
  VIP_NIC_ATTRIBUTES about{};
  REQUIRE(VipQueryNic(s.nic, &about) == VIP_SUCCESS);
  address own("");
  std::memcpy(own.get()->HostAddress, about.LocalNicAddress, about.NicAddressLen);
  std::array<VIP_CHAR, 1100> name{};
  VIP_ULONG length = name.size();
  REQUIRE(VipNSGetHostByAddr(s.nic, own.get(), name.data(), &length) == VIP_SUCCESS);
  CHECK(length == std::strlen(name.data()) + 1);
  CHECK(length > 1);
}
