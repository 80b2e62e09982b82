#include "kindred/data/array_file.h"

#include <type_traits>

#include "kindred/core/error.h"
#include "kindred/data/hdf5_input.h"
#include "kindred/data/hdf5_output.h"

namespace kindred {

struct ArrayFileWriter::File : hdf5::OutputFile {
  using hdf5::OutputFile::OutputFile;
};

ArrayFileWriter::ArrayFileWriter(const std::filesystem::path& path)
    : file_(std::make_unique<File>(path)) {}
ArrayFileWriter::~ArrayFileWriter() = default;

template <class T>
void ArrayFileWriter::write(const std::string& name, std::span<const T> values,
                            std::vector<std::int64_t> shape) {
  std::int64_t expected = 1;
  for (const auto extent : shape) expected *= extent;
  if (expected != static_cast<std::int64_t>(values.size()))
    throw InvalidArgument("array '{}' has {} values, but shape {} needs {}", name, values.size(),
                          hdf5::shape_text(shape), expected);
  file_->write(name, values, shape);
}

void ArrayFileWriter::write_text(const std::string& name, const std::string& text) {
  file_->write_text(name, text);
}

void ArrayFileWriter::close() { file_->commit(); }

struct ArrayFileReader::File : hdf5::InputFile {
  using hdf5::InputFile::InputFile;
};

ArrayFileReader::ArrayFileReader(const std::filesystem::path& path)
    : file_(std::make_unique<File>(path)) {}
ArrayFileReader::~ArrayFileReader() = default;

bool ArrayFileReader::contains(const std::string& name) const {
  return file_->has_dataset(name) || file_->has_group(name);
}

template <class T>
Array<T> ArrayFileReader::read(const std::string& name) const {
  const auto dataset = file_->dataset(name);
  const auto kind = std::is_floating_point_v<T> ? hdf5::Kind::kFloat : hdf5::Kind::kInteger;
  if (dataset.kind() != kind)
    throw DataFormatError("{} holds {}, expected {}", dataset.where(),
                          hdf5::to_string(dataset.kind()), hdf5::to_string(kind));
  Array<T> array{dataset.shape(), {}};
  array.values.resize(static_cast<std::size_t>(dataset.rows() * dataset.row_size()));
  if (!array.values.empty()) dataset.read(0, dataset.rows(), array.values.data());
  return array;
}

std::string ArrayFileReader::read_text(const std::string& name) const {
  const auto dataset = file_->dataset(name);
  const auto strings = dataset.read_strings();
  if (strings.size() != 1)
    throw DataFormatError("{} has shape {}, expected one text", dataset.where(),
                          hdf5::shape_text(dataset.shape()));
  return strings.front();
}

#define KINDRED_INSTANTIATE(T)                                                 \
  template void ArrayFileWriter::write(const std::string&, std::span<const T>, \
                                       std::vector<std::int64_t>);             \
  template Array<T> ArrayFileReader::read(const std::string&) const;
KINDRED_INSTANTIATE(float)
KINDRED_INSTANTIATE(double)
KINDRED_INSTANTIATE(std::uint8_t)
KINDRED_INSTANTIATE(std::int32_t)
KINDRED_INSTANTIATE(std::int64_t)
#undef KINDRED_INSTANTIATE

}  // namespace kindred
