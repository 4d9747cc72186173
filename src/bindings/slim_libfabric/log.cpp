// SPDX-License-Identifier: Apache-2.0
// libfabric's log on stderr, as FI_LOG_LEVEL asks for it.
#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>

namespace {

/// -1: nothing is logged.
int wanted_level() noexcept {
  static const int level = [] {
    const char* const asked = std::getenv("FI_LOG_LEVEL");
    const char* const names[] = {"warn", "trace", "info", "debug"};
    const int all = static_cast<int>(std::size(names));
    for (int i = 0; asked && i < all; ++i)
      if (::strcasecmp(asked, names[i]) == 0) return i;
    return -1;
  }();
  return level;
}

}  // namespace

int fi_log_enabled(const fi_provider* /*of*/, fi_log_level level, fi_log_subsys /*part*/) {
  return static_cast<int>(level) <= wanted_level() ? 1 : 0;
}

/// For messages that should be rare; here they are as frequent as others.
int fi_log_ready(const fi_provider* of, fi_log_level level, fi_log_subsys part,
                 std::uint64_t* /*next*/) {
  return fi_log_enabled(of, level, part);
}

void fi_log(const fi_provider* of, fi_log_level /*level*/, fi_log_subsys /*part*/,
            const char* where, int line, const char* format, ...) {
  char text[1024];
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  std::fprintf(stderr, "libfabric:%d:%s:%s():%d: %s", static_cast<int>(::getpid()),
               of ? of->name : "core", where, line, text);
}
