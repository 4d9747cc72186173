// SPDX-License-Identifier: Apache-2.0
// Which release each library had when weft was built, and which one this process has.
#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include <weft/build.hpp>

#include "api/versions/library_file.hpp"

namespace weft {

namespace {

using detail::library_file;

/// The version in a number such as fmt's 90100, which is 9.1.0.
/// \param first what the first part is multiplied by
std::string unpacked(unsigned long number, unsigned long first) {
  return fmt::format("{}.{}.{}", number / first, number % first / 100, number % 100);
}

/// The next number of a version, which it takes away. \return false: there is none
bool take_number(std::string_view& version, unsigned& number) {
  const auto [end, failure] =
      std::from_chars(version.data(), version.data() + version.size(), number);
  if (failure != std::errc{}) return false;
  version.remove_prefix(static_cast<std::size_t>(end - version.data()));
  if (version.starts_with('.')) version.remove_prefix(1);
  return true;
}

/// By the numbers that both have: a library may tell fewer of them than its package.
bool older(std::string_view one, std::string_view other) {
  unsigned mine = 0, theirs = 0;
  while (take_number(one, mine) && take_number(other, theirs))
    if (mine != theirs) return mine < theirs;
  return false;
}

std::string liburing() {
  const library_file file("liburing.so.");
  const std::string said = file.numbers_say("io_uring_major_version", "io_uring_minor_version");
  return said.empty() ? file.name_says() : said;  // before 2.4 it has no such functions
}

std::string nettle() {
  return library_file("libnettle.so.").numbers_say("nettle_version_major", "nettle_version_minor");
}

std::string openssl() {
  return library_file("libcrypto.so.")
      .numbers_say("OPENSSL_version_major", "OPENSSL_version_minor");
}

std::string glibc() {
#ifdef __GLIBC__
  return ::gnu_get_libc_version();
#else
  return {};
#endif
}

std::string built_with_glibc() {
#ifdef __GLIBC__
  return fmt::format("{}.{}", __GLIBC__, __GLIBC_MINOR__);
#else
  return {};
#endif
}

}  // namespace

std::vector<library_version> library_versions() {
  std::vector<library_version> all{
      {"glibc", built_with_glibc(), glibc()},
      {"libstdc++", WEFT_LIBSTDCXX_VERSION, library_file("libstdc++.so.").name_says()},
      {"fmt", unpacked(FMT_VERSION, 10'000), library_file("libfmt.so.").name_says()},
      {"asio", unpacked(WEFT_ASIO_VERSION, 100'000), {}},
      {"nettle", WEFT_NETTLE_VERSION, nettle()},
      {"liburing", WEFT_URING_VERSION, liburing()},
      {"oneTBB", WEFT_TBB_VERSION, library_file("libtbb.so.").text_says("TBB_runtime_version")},
      {"OpenSSL", WEFT_TLS_VERSION, openssl()},
      {"libibverbs", WEFT_VERBS_VERSION, library_file("libibverbs.so.").name_says()},
      {"PMIx", WEFT_PMIX_VERSION, library_file("libpmix.so.").text_says("PMIx_Get_version")},
      {"libfabric", WEFT_OFI_VERSION, library_file("libfabric.so.").halves_say("fi_version")}};
  std::erase_if(all, [](const library_version& one) { return one.built_with.empty(); });
  return all;
}

std::string mixture(const library_version& library) {
  if (!older(library.loaded, library.built_with)) return {};
  return fmt::format(
      "{} {} is loaded, and weft was built with {}: an older one may lack what weft "
      "uses; install {} or later, or build weft on this machine",
      library.name, library.loaded, library.built_with, library.built_with);
}

}  // namespace weft
