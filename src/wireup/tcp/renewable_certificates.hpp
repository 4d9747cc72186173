// SPDX-License-Identifier: Apache-2.0
// Certificates that are renewed while their owner runs.
#pragma once

#include <sys/types.h>

#include <array>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include <weft/tls_files.hpp>

#include "net/tls/settings.hpp"

namespace weft::wireup {

/// Those of a listener, or of a context. Certificates live for months at most, and services longer:
/// the files are read again when they have changed, by the thread that asks. Any thread.
class renewable_certificates {
 public:
  /// \throws weft::error as net::tls::settings
  explicit renewable_certificates(tls_files files);

  /// As the files are now; as they were, if they cannot be used.
  /// \param trouble called with the reason, once for each change of the files; empty: it is not
  std::shared_ptr<const net::tls::settings> now(
      const std::function<void(const std::string&)>& trouble = {});

 private:
  struct mark {
    ino_t file = 0;
    off_t size = 0;
    long long changed = 0;  // ns
    bool operator==(const mark&) const = default;
  };
  using marks = std::array<mark, 3>;
  static mark mark_of(const std::string& path) noexcept;
  marks look() const noexcept;

  const tls_files files_;
  std::mutex mutex_;
  marks seen_;  // guarded by mutex_, as what follows
  std::shared_ptr<const net::tls::settings> made_;
};

}  // namespace weft::wireup
