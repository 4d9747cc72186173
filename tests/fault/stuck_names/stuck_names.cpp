// SPDX-License-Identifier: Apache-2.0
// Preloaded into a program, it acts as a name server that never answers, for the host "stuck.test".
// It reports that it was asked.
#include <dlfcn.h>
#include <netdb.h>
#include <unistd.h>

#include <cstring>

extern "C" int getaddrinfo(const char* node, const char* service, const addrinfo* hints,
                           addrinfo** found) {
  if (node && std::strcmp(node, "stuck.test") == 0) {
    static constexpr char asked[] = "asked\n";
    const auto told = ::write(STDOUT_FILENO, asked, sizeof asked - 1);
    for (;;) ::pause();
    return static_cast<int>(told);
  }
  using real = int(const char*, const char*, const addrinfo*, addrinfo**);
  static auto* const next = reinterpret_cast<real*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return next(node, service, hints, found);
}
