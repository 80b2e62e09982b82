// Values as bytes on their way to other processes of the same program: no format, and never on
// disk.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "kindred/dist/communicator.h"

namespace kindred {

class Packer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void add(const T& value) {
    const auto bytes = std::as_bytes(std::span(&value, 1));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.size());
    const auto bytes = std::as_bytes(std::span(values));
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void add(const std::string& text) { add(std::vector<char>(text.begin(), text.end())); }

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes out what was put in, in the same order.
class Unpacker {
 public:
  explicit Unpacker(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void take(T& value) { std::memcpy(&value, next(sizeof(T)), sizeof(T)); }
  template <class T>
  void take(std::vector<T>& values) {
    std::size_t count = 0;
    take(count);
    values.resize(count);
    if (count > 0) std::memcpy(values.data(), next(count * sizeof(T)), count * sizeof(T));
  }
  void take(std::string& text) {
    std::vector<char> characters;
    take(characters);
    text.assign(characters.begin(), characters.end());
  }

 private:
  const std::byte* next(std::size_t size) {
    if (size > bytes_.size())
      throw PeerLost("another process sent less than was expected; are all of the same version?");
    const auto* here = bytes_.data();
    bytes_ = bytes_.subspan(size);
    return here;
  }

  std::span<const std::byte> bytes_;
};

}  // namespace kindred
