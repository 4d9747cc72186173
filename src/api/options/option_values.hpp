// SPDX-License-Identifier: Apache-2.0
// Options from the text of their variables, and back, for the table of setting_variables.cpp.
#pragma once

#include <string>

#include <weft/options.hpp>

namespace weft::detail {

// Each sets one option. \throws weft::error (invalid_argument) that names the variable, its value
// and what is allowed
void set_transports(options& o, const char* name, const std::string& value);
void set_wait_set(options& o, const char* name, const std::string& value);
void set_progress(options& o, const char* name, const std::string& value);
void set_progress_cpus(options& o, const char* name, const std::string& value);
void set_registration_caching(options& o, const char* name, const std::string& value);
void set_eager_limit(options& o, const char* name, const std::string& value);
void set_shm_limit(options& o, const char* name, const std::string& value);
void set_region_entries(options& o, const char* name, const std::string& value);
void set_spin(options& o, const char* name, const std::string& value);
void set_peer_timeout(options& o, const char* name, const std::string& value);
void set_start_timeout(options& o, const char* name, const std::string& value);
void set_stop_timeout(options& o, const char* name, const std::string& value);
void set_linger(options& o, const char* name, const std::string& value);
void set_tcp_links(options& o, const char* name, const std::string& value);
void set_tcp_tls(options& o, const char* name, const std::string& value);
void set_lanes(options& o, const char* name, const std::string& value);
void set_calls_at_once(options& o, const char* name, const std::string& value);
void set_verbs_gid_index(options& o, const char* name, const std::string& value);
void set_dump(options& o, const char* name, const std::string& value);
void set_metrics_interval(options& o, const char* name, const std::string& value);
void set_log(options& o, const char* name, const std::string& value);

// As such a function takes it.
std::string text_of_eager_limits(const options& o);
std::string name_of(progress_mode m);
std::string name_of(registration_caching c);
std::string name_of(dump_on d);
std::string name_of(log_level l);
std::string name_of(tcp_encryption e);

}  // namespace weft::detail
