// What PyTorch computed (fixtures/make_autoencoder_fixture.py), and how far from it is too far.
#pragma once

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/data/npy.h"
#include "kindred/data/zip.h"

namespace kindred::testing {

/// The arrays of an NPZ file by name.
class Fixture {
 public:
  Fixture() : archive_(KINDRED_NN_FIXTURES "/autoencoder.npz") {}

  at::Tensor operator[](const std::string& name) const {
    return at::tensor(floats(name)).view(reader(name).shape());
  }
  std::vector<float> floats(const std::string& name) const { return values<float>(name); }
  std::vector<std::int64_t> integers(const std::string& name) const {
    return values<std::int64_t>(name);
  }

 private:
  template <class T>
  std::vector<T> values(const std::string& name) const {
    const auto read = reader(name).read<T>();
    return {read.begin(), read.end()};
  }

  npy::ArrayReader reader(const std::string& name) const {
    const auto* entry = archive_.find(name + ".npy");
    if (entry == nullptr) throw IoError("the fixture has no array {}", name);
    return npy::ArrayReader(archive_, *entry, name);
  }

  zip::Archive archive_;
};

/// The largest difference between two arrays, relative to the largest number expected.
inline double error(const at::Tensor& found, const at::Tensor& expected) {
  if (found.sizes() != expected.sizes()) throw InvalidArgument("shapes differ");
  if (expected.numel() == 0) return 0.0;
  const auto difference = (found.detach() - expected.detach()).abs().max().item<double>();
  return difference / std::max(1e-30, expected.detach().abs().max().item<double>());
}

}  // namespace kindred::testing
