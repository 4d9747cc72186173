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
  CHECK_THAT(said, weft::tests::contains("VipOpenNic: ") && weft::tests::contains("WEFT_SPIN") &&
                       weft::tests::contains("very long"));
}

TEST_CASE("nic: every refusal of a NIC has its reason on stderr") {
  VIP_NIC_HANDLE n = nullptr;
  const std::string too_long(64, 'n');
  for (const char* const name : {static_cast<const char*>(nullptr), "", too_long.c_str()}) {
    VIP_RETURN result = VIP_SUCCESS;
    CHECK_THAT(said_by([&] { result = VipOpenNic(name, &n); }),
               weft::tests::contains("VipOpenNic: the name of a device"));
    CHECK(result == VIP_INVALID_PARAMETER);
  }
  CHECK_THAT(said_by([] { CHECK(VipOpenNic("nic", nullptr) == VIP_INVALID_PARAMETER); }),
             weft::tests::contains("VipOpenNic: "));
  ::setenv("WEFT_TRANSPORTS", "self,carrier-pigeon", 1);
  VIP_RETURN result = VIP_SUCCESS;
  const std::string said = said_by([&] { result = VipOpenNic("nic", &n); });
  ::unsetenv("WEFT_TRANSPORTS");
  CHECK(result == VIP_INVALID_PARAMETER);
  CHECK_THAT(said,
             weft::tests::contains("WEFT_TRANSPORTS") && weft::tests::contains("carrier-pigeon"));
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
  // And that name, as the host has it, has an address.
  address found;
  REQUIRE(::gethostname(name.data(), name.size()) == 0);
  REQUIRE(VipNSGetHostByName(s.nic, name.data(), found.get(), 0) == VIP_SUCCESS);
  CHECK(found.get()->HostAddressLen == about.NicAddressLen);
}
