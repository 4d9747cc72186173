// SPDX-License-Identifier: Apache-2.0
// key_value: keeps values under keys for clients that come and go, also over its own end.
//
//   key_value --serve unix://shelf --folder /tmp/shelf     in the first terminal, until SIGINT:
//                                                            serving 0 values at unix://shelf
//   key_value --at unix://shelf put town Weimar            in others
//   key_value --at unix://shelf put map < map.tif          the value from standard input
//   key_value --at unix://shelf get town                     Weimar
//   key_value --at unix://shelf metrics                      values 2, bytes 1006, puts 2, calls 4
//
// Each value is a file, written under another name and then renamed: when the service was killed,
// the next one finds each value whole, the old one or the new one. A client connects again and
// repeats its call, which may be served twice: put and get are idempotent.
#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>

#include <weft/reconnecting_endpoint.hpp>
#include <weft/weft.hpp>

namespace {

using namespace weft;
namespace fs = std::filesystem;
using optional_text = std::optional<std::string>;

constexpr am put{1}, get{2}, metrics_of{3};

struct settings {
  std::string serve_at = {}, at = {}, folder = ".", what = "metrics", key = {}, value = {};
};

struct figures {  // travels as it is: a structure of a few members
  std::uint64_t values = 0, bytes = 0, puts = 0, calls = 0;
};

class shelf {
 public:
  shelf(context& ctx, fs::path folder) : ctx_(&ctx), folder_(std::move(folder)) {}

  /// Reads what an earlier service has kept.
  task<void> load() {
    fs::create_directories(folder_);
    for (const auto& file : fs::directory_iterator(folder_)) {
      const std::string name = file.path().filename().string();
      if (name.starts_with('.'))  // that put has not been answered
        fs::remove(file);
      else
        values_[name] = co_await read_file<std::string>(*ctx_, file.path());
    }
  }

  task<void> put(std::string key, std::string value) {
    if (key.starts_with('.') || fs::path(key).filename() != key)
      throw std::invalid_argument("a key is the name of a file, without a dot in front");
    const fs::path fresh = folder_ / fmt::format(".{}", ++puts_);
    co_await write_file(*ctx_, fresh, value);  // others are served meanwhile
    fs::rename(fresh, folder_ / key);
    values_[key] = std::move(value);
  }

  optional_text get(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::nullopt : optional_text(found->second);
  }

  figures count() const {
    figures f{values_.size(), 0, puts_, ctx_->snapshot().calls_served};
    for (const auto& [key, value] : values_) f.bytes += value.size();
    return f;
  }

 private:
  context* ctx_;
  fs::path folder_;
  std::map<std::string, std::string> values_;
  std::uint64_t puts_ = 0;
};

task<void> serve(context& ctx, const settings& s) {
  signal_set signals(ctx, {SIGINT, SIGTERM});
  shelf one(ctx, s.folder);
  co_await one.load();
  // They run one at a time on this thread, and need no lock.
  handler puts = ctx.on<void(std::string, std::string)>(put, std::bind_front(&shelf::put, &one));
  handler gets = ctx.on<optional_text(std::string)>(get, std::bind_front(&shelf::get, &one));
  handler counts = ctx.on<figures()>(metrics_of, std::bind_front(&shelf::count, &one));
  listener door = co_await ctx.listen(s.serve_at);
  scope clients;
  clients.start(door.accept_all());
  std::cout << fmt::format("serving {} values at {}\n", one.count().values, door.address())
            << std::flush;
  co_await signals.next();
  door.close();
  co_await clients.join();
  co_await puts.end();  // of those that have begun
}

task<void> use(context& ctx, const settings& s) {
  reconnecting_endpoint there(ctx, s.at);
  if (s.what == "put") {
    std::string value = s.value;
    if (value.empty()) value = (std::ostringstream() << std::cin.rdbuf()).str();
    co_await there.call_idempotent<void>(put, s.key, std::move(value));
  } else if (s.what == "get") {
    const auto value = co_await there.call_idempotent<optional_text>(get, s.key);
    if (!value) throw std::runtime_error("there is no value under " + s.key);
    std::cout << *value;
  } else {
    const auto f = co_await there.call_idempotent<figures>(metrics_of);
    fmt::print("values {}, bytes {}, puts {}, calls {}\n", f.values, f.bytes, f.puts, f.calls);
  }
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  CLI::App app("A service that keeps values under keys, and its clients.");
  auto* way = app.add_option_group("one of");
  way->add_option("--serve", s.serve_at, "serve at this address");
  auto* at = way->add_option("--at", s.at, "use the service there");
  way->require_option(1);
  app.add_option("--folder", s.folder, "where the service keeps the values")->capture_default_str();
  app.add_option("what", s.what, "put, get or metrics")
      ->needs(at)
      ->check(CLI::IsMember({"put", "get", "metrics"}));
  app.add_option("key", s.key, "of put and get");
  app.add_option("value", s.value, "of put; none: standard input");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  return weft::run_main(s.at.empty() ? serve : use, s);
}
