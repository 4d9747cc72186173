// SPDX-License-Identifier: Apache-2.0
#include "transports/table/table.hpp"

#include <algorithm>

#include "transports/qdma/factory.hpp"
#include "transports/self/factory.hpp"
#include "transports/shm/factory.hpp"
#include "transports/tcp/factory.hpp"
#include "transports/verbs/factory.hpp"

namespace weft::transports {

const std::vector<factory>& built_in() {
  static const std::vector<factory> all{self::kind(), shm::kind(), qdma::kind(), verbs::kind(),
                                        tcp::kind()};
  return all;
}

const factory* find(std::string_view name, const std::vector<factory>& others) {
  for (const std::vector<factory>* list : {&others, &built_in()})
    for (const factory& one : *list)
      if (one.name == name) return &one;
  return nullptr;
}

std::string names_of(const std::vector<factory>& others) {
  std::vector<std::string_view> names;
  for (const std::vector<factory>* list : {&built_in(), &others})
    for (const factory& one : *list) names.push_back(one.name);
  std::string text(names.front());
  for (std::size_t i = 1; i != names.size(); ++i)
    text.append(i + 1 == names.size() ? " and " : ", ").append(names[i]);
  return text;
}

}  // namespace weft::transports
