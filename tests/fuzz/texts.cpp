// SPDX-License-Identifier: Apache-2.0
// Texts from users: addresses, WEFT_* variables, WEFT_JOB. Each is parsed or refused by
// weft::error, and a parsed text stays the same when it is written and parsed again.
#include <string>

#include <weft/environment.hpp>

#include "target.hpp"
#include "wireup/base/identity.hpp"
#include "wireup/job/job_directory.hpp"
#include "wireup/sockets/address.hpp"

namespace weft::fuzz {

namespace {

void address(const std::string& text) {
  wireup::listen_address a;
  try {
    a = wireup::parse_address(text);
  } catch (const error& e) {
    return check(e.kind() == errc::invalid_argument, "a bad address is an invalid argument");
  }
  const wireup::listen_address again = wireup::parse_address(wireup::to_text(a));
  check(again.how == a.how && again.name == a.name && again.host == a.host && again.port == a.port,
        "an address survives being written");
}

void variable(const environment_variable& v, const std::string& text) {
  options o;
  try {
    v.set(o, v.name, text);
  } catch (const error& e) {
    return check(e.kind() == errc::invalid_argument, "a bad variable is an invalid argument");
  }
  const std::string said = v.get(o);
  options again;
  v.set(again, v.name, said);
  check(v.get(again) == said, "an option survives being written");
}

}  // namespace

void run(input in) {
  const auto which = in.get<std::uint8_t>();
  const auto rest = in.rest();
  const std::string text(reinterpret_cast<const char*>(rest.data()), rest.size());
  const auto& variables = environment_variables();
  if (which < variables.size()) return variable(variables[which], text);
  address(text);
  std::string locator;
  wireup::context_id job;
  wireup::parse_job_environment(text, locator, job);
}

}  // namespace weft::fuzz
