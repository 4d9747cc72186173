// SPDX-License-Identifier: Apache-2.0
#include "wireup/tcp/renewable_certificates.hpp"

#include <sys/stat.h>

#include <utility>

#include <weft/error.hpp>

namespace weft::wireup {

/// Looked at before they are read: what changes in between is found the next time.
renewable_certificates::renewable_certificates(tls_files files)
    : files_(std::move(files)),
      seen_(look()),
      made_(std::make_shared<net::tls::settings>(files_)) {}

renewable_certificates::mark renewable_certificates::mark_of(const std::string& path) noexcept {
  struct stat about {};
  if (::stat(path.c_str(), &about) != 0) return {};
  return {about.st_ino, about.st_size,
          static_cast<long long>(about.st_mtim.tv_sec) * 1'000'000'000 + about.st_mtim.tv_nsec};
}

renewable_certificates::marks renewable_certificates::look() const noexcept {
  return {mark_of(files_.certificate), mark_of(files_.key), mark_of(files_.authority)};
}

std::shared_ptr<const net::tls::settings> renewable_certificates::now(
    const std::function<void(const std::string&)>& trouble) {
  const std::lock_guard lock(mutex_);
  if (const marks found = look(); found != seen_) {
    seen_ = found;
    try {
      made_ = std::make_shared<net::tls::settings>(files_);
    } catch (const error& e) {
      if (trouble) trouble(e.what());
    }
  }
  return made_;
}

}  // namespace weft::wireup
