// SPDX-License-Identifier: Apache-2.0
#include "bindings/open_mpi_4/packed_types.hpp"

#include <cstddef>

namespace weft::open_mpi_4 {

namespace {

class holder {
 public:
  explicit holder(pthread_mutex_t& mutex) noexcept : mutex_(mutex) {
    ::pthread_mutex_lock(&mutex_);
  }
  ~holder() { ::pthread_mutex_unlock(&mutex_); }
  holder(const holder&) = delete;
  holder& operator=(const holder&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

bool is_type(handle type) noexcept {
  static constinit named null_type("ompi_mpi_datatype_null", named::what::object);
  return type != nullptr && type != null_type.address();
}

bool begins_elsewhere(handle type) noexcept {
  static constinit call get_true_extent("PMPI_Type_get_true_extent");
  std::ptrdiff_t begin = 0;
  std::ptrdiff_t length = 0;
  return is_type(type) && get_true_extent(type, &begin, &length) == success && begin != 0;
}

int make_key(int& key) noexcept {
  using copy = int(handle, int, void*, void*, void*, int*);
  using remove = int(handle, int, void*, void*);
  static constinit call create("PMPI_Type_create_keyval");
  copy* const not_to_duplicates = [](handle, int, void*, void*, void*, int* copied) {
    *copied = 0;
    return success;
  };
  remove* const nothing = [](handle, int, void*, void*) { return success; };
  return create(not_to_duplicates, nothing, &key, static_cast<void*>(nullptr));
}

}  // namespace

int packed_types::take_place_of(handle& type) noexcept {
  if (!begins_elsewhere(type)) return success;
  const holder held(mutex_);
  handle packed = nullptr;
  if (!look_up(type, packed))
    if (const int wrong = make(type, packed); wrong != success) return wrong;
  type = packed;
  return success;
}

void packed_types::forget(handle type) noexcept {
  static constinit call delete_attribute("PMPI_Type_delete_attr");
  static constinit call free_type("PMPI_Type_free");
  const holder held(mutex_);
  handle packed = nullptr;
  if (!is_type(type) || !look_up(type, packed)) return;
  delete_attribute(type, key_);
  free_type(&packed);
}

bool packed_types::look_up(handle type, handle& packed) noexcept {
  static constinit call get_attribute("PMPI_Type_get_attr");
  int found = 0;
  return key_ != none && get_attribute(type, key_, &packed, &found) == success && found != 0;
}

int packed_types::make(handle type, handle& packed) noexcept {
  static constinit call make_contiguous("PMPI_Type_contiguous");
  static constinit call commit("PMPI_Type_commit");
  static constinit call set_attribute("PMPI_Type_set_attr");
  static constinit call free_type("PMPI_Type_free");
  int wrong = key_ == none ? make_key(key_) : success;
  if (wrong == success) wrong = make_contiguous(1, type, &packed);
  if (wrong != success) return wrong;
  wrong = commit(&packed);
  if (wrong == success) wrong = set_attribute(type, key_, packed);
  if (wrong != success) free_type(&packed);
  return wrong;
}

}  // namespace weft::open_mpi_4
