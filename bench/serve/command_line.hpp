// SPDX-License-Identifier: Apache-2.0
// What a client asks of a server: to run the other side of a command line.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::bench {

/// The port of a server, unless another one is chosen.
inline constexpr std::uint16_t usual_port = 7471;

/// As the private data of a connection: this program, its version, and the words.
/// \throws std::runtime_error when they are too long
std::string private_data_of(const std::vector<std::string>& words);

/// The words of a client that may be run here.
/// \param app the parser of this program: words are checked against its subcommands and options,
///        and no word can be a path
/// \throws std::runtime_error with the reason, for the client
std::vector<std::string> words_in(const std::string& private_data, const CLI::App& app);

}  // namespace weft::bench
