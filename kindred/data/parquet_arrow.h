// What the files of this room that use Arrow share of it: opening, and errors as Kindred says them.
// Internal, and the only headers that include Arrow are included here.
#pragma once

#include <arrow/api.h>
#include <arrow/io/file.h>
#include <parquet/arrow/reader.h>

#include <filesystem>
#include <memory>
#include <new>
#include <string>
#include <utility>

#include "kindred/core/error.h"

namespace kindred::parquet_file {

/// Throws DataFormatError, in one line, unless `status` is good.
void check(const arrow::Status& status, const std::filesystem::path& file);

template <class T>
T take(arrow::Result<T> result, const std::filesystem::path& file) {
  check(result.status(), file);
  return *std::move(result);
}

/// Calls `action`. Parts of the library throw what others return, and damaged files make them throw
/// other things as well.
template <class Action>
auto guarded(const std::filesystem::path& file, Action action) {
  try {
    return action();
  } catch (const Error&) {
    throw;
  } catch (const std::bad_alloc&) {
    throw;
  } catch (const std::exception& error) {
    check(arrow::Status::IOError(error.what()), file);
    throw;  // not reached
  }
}

/// Throws IoError when there is no such file, DataFormatError when it is not Parquet.
std::unique_ptr<parquet::arrow::FileReader> open(const std::filesystem::path& file);

}  // namespace kindred::parquet_file
