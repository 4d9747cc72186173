// SPDX-License-Identifier: Apache-2.0
#include "serve/client.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "serve/command_line.hpp"
#include "serve/note.hpp"
#include "stage/linked_member.hpp"
#include "stage/own_arguments.hpp"
#include "support/affinity.hpp"

namespace weft::bench {
namespace {

using namespace std::chrono_literals;

// The server answers at once when it has started the side, whose failure comes a little later than
// its effect here.
constexpr auto time_to_answer = 30s;
constexpr auto time_for_last_words = 3s;

std::string address_of(const std::string& to) {
  const bool has_port = to.rfind(':') != to.npos && to.back() != ']';
  return has_port ? "tcp://" + to : fmt::format("tcp://{}:{}", to, usual_port);
}

/// This process's command line, without the options that name the server.
std::vector<std::string> words_for_server() {
  std::vector<std::string> words;
  bool skips = false;
  for (const std::string& word : own_arguments()) {
    if (std::exchange(skips, false)) continue;
    skips = word == "--to" || word == "--key-file";
    if (!skips && !word.starts_with("--to=") && !word.starts_with("--key-file="))
      words.push_back(word);
  }
  return words;
}

options options_with_key(const settings& chosen) {
  options result = options_of_link();
  if (!chosen.key_file.empty()) {
    result.job_key.clear();
    result.job_key_file = chosen.key_file;
  }
  if (result.job_key.empty() && result.job_key_file.empty()) throw std::runtime_error(needs_key);
  return result;
}

/// What the server says of the other side.
class server {
 public:
  server(context& ctx, const settings& chosen) : ctx_(ctx), name_(chosen.to) {
    const std::string words = private_data_of(words_for_server());
    try {
      peer_ = run(ctx_, within(time_to_answer, ctx_.connect(address_of(name_), words)));
    } catch (const error& e) {
      throw std::runtime_error(fmt::format("the server {}: {}", name_, e.what()));
    }
  }

  /// Waits until the other side has started.
  endpoint started_side() {
    try {
      const note said = run(ctx_, within(time_to_answer, receive_note(peer_)));
      if (const auto where = said.address()) return peer_at(ctx_, *where);
      throw std::runtime_error(said.failure());
    } catch (const std::exception& e) {
      throw std::runtime_error(fmt::format("the other side, at {}: {}", name_, e.what()));
    }
  }

  /// The reason of the other side for a failure that this side has noticed; nothing: it has not
  /// failed, as far as the server knows.
  std::optional<std::string> last_words() {
    auto said = run(ctx_, as_result(within(time_for_last_words, receive_note(peer_))));
    if (said) return fmt::format("the other side, at {}: {}", name_, said.value().failure());
    if (said.code() == errc::timed_out) return {};
    return fmt::format("the server {} or its host has gone: {}", name_, said.failure().what());
  }

 private:
  context& ctx_;
  const std::string name_;
  endpoint peer_;
};

}  // namespace

void be_client(const settings& chosen, const std::function<void(pair_member&)>& body) {
  if (chosen.pin) pin_rank(0);
  context ctx(options_with_key(chosen));
  server there(ctx, chosen);
  const endpoint other = there.started_side();
  linked_member self(ctx, other, 0);
  std::string here;
  try {
    run_linked(self, chosen, body);  // with its first message the other side learns of this one
    return;
  } catch (const std::exception& e) {
    here = e.what();
  }
  const auto there_said = there.last_words();
  throw std::runtime_error(there_said ? fmt::format("{}; {}", here, *there_said) : here);
}

}  // namespace weft::bench
