// SPDX-License-Identifier: Apache-2.0
#include "command.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace weft::mpirun {

namespace {

/// Open MPI spells its options with one dash or two.
std::string_view bare(std::string_view word) {
  if (!word.starts_with('-')) return {};
  return word.substr(word.starts_with("--") ? 2 : 1);
}

bool says(const std::vector<std::string>& arguments,
          std::initializer_list<std::string_view> names) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& word) {
    return std::find(names.begin(), names.end(), bare(word)) != names.end();
  });
}

/// Whether the user sets a parameter of Open MPI. A variable of his profile is no answer to where
/// messages go: that is what weft-mpirun is asked for.
bool sets(const options& chosen, const surroundings& here, std::string_view parameter) {
  const auto& words = chosen.rest;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string_view option = bare(words[i]);
    if ((option == "mca" || option == "gmca" || option == "omca") && words[i + 1] == parameter)
      return true;
  }
  if (parameter.starts_with("pml") || parameter.starts_with("mtl")) return false;
  const std::string variable = "OMPI_MCA_" + std::string(parameter);
  return std::find(here.variables.begin(), here.variables.end(), variable) != here.variables.end();
}

/// Whether the user gives the ranks that environment variable.
bool exports(const std::vector<std::string>& words, std::string_view variable) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i)
    if (words[i] == "-x" && words[i + 1].substr(0, words[i + 1].find('=')) == variable) return true;
  return false;
}

/// The words for each program of `program : program`. Open MPI 5 is given them as they are.
std::vector<std::vector<std::string>> programs_of(const options& chosen, const surroundings& here) {
  std::vector<std::vector<std::string>> all(1);
  for (const std::string& word : chosen.rest) {
    if (word == ":" && here.open_mpi == series::v4_1) all.emplace_back();
    all.back().push_back(word);
  }
  return all;
}

/// Libraries of the user's for LD_PRELOAD come before our own: tools hear of each call.
std::string preload(std::string users, const surroundings& here) {
  return users.empty() ? here.before_mpi : users + ":" + here.before_mpi;
}

/// The words of one program; what it says of LD_PRELOAD is said of our own library, too.
std::vector<std::string> with_preload(std::vector<std::string> words, const surroundings& here) {
  constexpr std::string_view name = "LD_PRELOAD";
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string& word = words[i];
    if (words[i - 1] != "-x" || word.substr(0, word.find('=')) != name) continue;
    word =
        "LD_PRELOAD=" + preload(word == name ? here.preloaded : word.substr(name.size() + 1), here);
  }
  return words;
}

bool is_plain(std::string_view word) {
  constexpr std::string_view safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  return !word.empty() && word.find_first_not_of(safe) == word.npos;
}

}  // namespace

std::optional<unsigned> ranks_asked(const std::vector<std::string>& arguments) {
  constexpr std::array<std::string_view, 4> names{"n", "np", "c", "N"};
  for (std::size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (std::find(names.begin(), names.end(), bare(arguments[i])) == names.end()) continue;
    const std::string& text = arguments[i + 1];
    unsigned count = 0;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (failure == std::errc{} && end == text.data() + text.size()) return count;
  }
  return std::nullopt;
}

bool forwarded(std::string_view variable) {
  constexpr std::array<std::string_view, 5> of_a_launcher{
      "WEFT_RANK", "WEFT_SIZE", "WEFT_LOCAL_SIZE", "WEFT_JOB", "WEFT_OFI_ANNOUNCE"};  // below
  return variable.starts_with("WEFT_") &&
         std::find(of_a_launcher.begin(), of_a_launcher.end(), variable) == of_a_launcher.end();
}

std::vector<std::string> variables_of_ranks(const options& chosen, const surroundings& here) {
  if (chosen.plain) return {};
  std::vector<std::string> all{"FI_PROVIDER_PATH=" + here.provider_path};
  // The user's value of that variable counts: the ranks then load the system's libfabric.
  if (!here.library_path.empty() && !exports(chosen.rest, "LD_LIBRARY_PATH"))
    all.push_back("LD_LIBRARY_PATH=" + here.library_path);
  if (!here.before_mpi.empty() && !exports(chosen.rest, "LD_PRELOAD"))
    all.push_back("LD_PRELOAD=" + preload(here.preloaded, here));
  if (!chosen.quiet) all.emplace_back("WEFT_OFI_ANNOUNCE=1");
  return all;
}

std::vector<std::string> variables_of_mpirun(const options& chosen, const surroundings& here) {
  if (here.open_mpi == series::v4_1) return {};
  return variables_of_ranks(chosen, here);
}

std::vector<std::string> build_command(const options& chosen, const surroundings& here) {
  std::vector<std::string> all{here.mpirun};
  const auto add = [&all](std::initializer_list<std::string> words) {
    all.insert(all.end(), words);
  };
  if (here.root && !says(chosen.rest, {"allow-run-as-root"})) add({"--allow-run-as-root"});

  const unsigned ranks = ranks_asked(chosen.rest).value_or(chosen.verify ? 2 : 1);
  // Named hosts have their own number of slots.
  const bool hosts_named =
      says(chosen.rest, {"host", "H", "hostfile", "machinefile", "default-hostfile"});
  if (ranks > 1 && !hosts_named && !says(chosen.rest, {"oversubscribe", "nooversubscribe"}) &&
      ranks > here.cores())
    add({"--oversubscribe"});

  if (!chosen.plain) {
    // mpirun refuses a parameter that is given twice.
    for (const auto& [parameter, value] : settings_for(here.open_mpi, chosen.one_sided))
      if (!sets(chosen, here, parameter)) add({"--mca", parameter, value});
  }
  for (std::vector<std::string>& words : programs_of(chosen, here)) {
    // mpirun of 4.1 gives variables to the program behind them alone.
    auto begin = words.begin();
    if (begin != words.end() && *begin == ":") all.push_back(*begin++);
    options one = chosen;
    one.rest.assign(begin, words.end());
    if (!chosen.plain) {
      for (const std::string& variable : variables_of_ranks(one, here)) add({"-x", variable});
      for (const std::string& name : here.variables)
        if (forwarded(name)) add({"-x", name});
      if (!here.before_mpi.empty()) one.rest = with_preload(std::move(one.rest), here);
    }
    if (chosen.verify && !ranks_asked(chosen.rest)) add({"-n", "2"});
    all.insert(all.end(), one.rest.begin(), one.rest.end());
  }
  if (chosen.verify) add({here.self, "--verify-rank"});
  return all;
}

std::string in_front(const std::string& folder, std::string_view present) {
  if (present.empty()) return folder;
  return folder + ":" + std::string(present);
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    if (is_plain(word)) {
      line += word;
      continue;
    }
    line += '\'';
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

}  // namespace weft::mpirun
