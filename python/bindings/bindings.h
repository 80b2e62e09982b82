// What Python sees of Kindred: thin, and nothing is computed here. Records cross as JSON text,
// arrays without a copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <span>
#include <vector>

#include "kindred/runs/dataset.h"

namespace kindred::python {

namespace nb = nanobind;

/// A dataset that Python holds, and how it was read.
struct PyDataset {
  DatasetOptions options;
  Dataset dataset;
};

/// A numpy array that takes the values over.
template <class T>
nb::ndarray<nb::numpy, T> owned_array(std::vector<T> values, std::vector<std::size_t> shape) {
  auto* kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return {kept->data(), shape.size(), shape.data(), owner};
}

void bind_dataset(nb::module_& module);
void bind_fitting(nb::module_& module);
void bind_ranks(nb::module_& module);
void bind_run(nb::module_& module);
void bind_segments(nb::module_& module);

}  // namespace kindred::python
