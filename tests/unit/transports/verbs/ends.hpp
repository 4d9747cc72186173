// SPDX-License-Identifier: Apache-2.0
// Two ends of the transport on the test's own thread, with devices made of memory.
#pragma once

#include "support/verbs_ends.hpp"
#include "support/verbs_fabric.hpp"

namespace ends {

using tests::fabric;
using tests::fake_device;

struct end : plain_end {
  explicit end(fabric& on, verbs::settings s = {})
      : end(std::make_unique<fake_device>(on), std::move(s)) {}

  fake_device& hardware;

 private:
  end(std::unique_ptr<fake_device> made, verbs::settings&& s)
      : end(*made, std::move(made), std::move(s)) {}
  // By reference: the order in which the arguments are evaluated does not matter.
  end(fake_device& known, std::unique_ptr<fake_device>&& made, verbs::settings&& s)
      : plain_end(std::move(made), std::move(s)), hardware(known) {}
};

}  // namespace ends
