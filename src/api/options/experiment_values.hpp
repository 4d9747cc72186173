// SPDX-License-Identifier: Apache-2.0
// Options of experiments from the text of their variables, and back, for the table of
// experiment_variables.cpp.
#pragma once

#include <string>

#include <weft/options.hpp>

namespace weft::detail {

// As those of option_values.hpp.
void set_shm_copy(options& o, const char* name, const std::string& value);
void set_poll_policy(options& o, const char* name, const std::string& value);
void set_reading(options& o, const char* name, const std::string& value);
void set_stores(options& o, const char* name, const std::string& value);
void set_credit(options& o, const char* name, const std::string& value);
void set_rendezvous(options& o, const char* name, const std::string& value);
void set_eager_data(options& o, const char* name, const std::string& value);
void set_chained(options& o, const char* name, const std::string& value);
void set_qdma_copy_completion(options& o, const char* name, const std::string& value);
void set_verbs_eager(options& o, const char* name, const std::string& value);
void set_collectives(options& o, const char* name, const std::string& value);

// As such a function takes it.
std::string text_of_stores(const options& o);
std::string name_of(poll_policy p);
std::string name_of(ring_read_policy r);
std::string name_of(rendezvous_scheme w);
std::string name_of(rendezvous_eager_data b);
std::string name_of(chained_fin c);
std::string name_of(copy_completion e);
std::string name_of(eager_operation o);

}  // namespace weft::detail
