#include <hdf5.h>

#include <array>
#include <filesystem>
#include <vector>

#include "kindred/core/error.h"
#include "kindred/methods/method.h"
#include "kindred/methods/policy_search/evidence/exact_fits.h"
#include "kindred/runs/cluster.h"
#include "rows.h"

namespace bench {
namespace {

/// What HDF5 gave, given back at the end.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {
    if (id < 0) throw kindred::IoError("HDF5 refused");
  }
  ~Handle() { close_(id_); }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

constexpr hsize_t kChunkRows = 4096;
constexpr double kRidge = 10.0;  // of the search

/// `type` is the one in the file and in memory.
void write_array(hid_t file, const char* name, hid_t type, std::vector<hsize_t> shape, bool gzip,
                 const void* values) {
  const Handle space(H5Screate_simple(static_cast<int>(shape.size()), shape.data(), nullptr),
                     H5Sclose);
  const Handle how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  if (gzip) {
    auto chunk = shape;
    chunk[0] = std::min(chunk[0], kChunkRows);
    H5Pset_chunk(how, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(how, 4);  // h5py's own
  }
  const Handle array(H5Dcreate2(file, name, type, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose);
  if (H5Dwrite(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
    throw kindred::IoError("cannot write '{}'", name);
}

/// Reads an array whole; returns its bytes.
std::size_t read_array(hid_t file, const char* name, hid_t type, std::vector<char>& values) {
  const Handle array(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
  const Handle space(H5Dget_space(array), H5Sclose);
  const auto bytes =
      static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)) * H5Tget_size(type);
  values.resize(bytes);
  if (H5Dread(array, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
    throw kindred::IoError("cannot read '{}'", name);
  return bytes;
}

/// The arrays Kindred takes from a D4RL file, and the type of their numbers.
std::array<std::pair<const char*, hid_t>, 5> arrays() {
  return {{{"observations", H5T_NATIVE_FLOAT},
           {"actions", H5T_NATIVE_FLOAT},
           {"rewards", H5T_NATIVE_FLOAT},
           {"terminals", H5T_NATIVE_UINT8},
           {"timeouts", H5T_NATIVE_UINT8}}};
}

/// Into memory.
std::size_t read_arrays(const std::string& path, std::array<std::vector<char>, 5>& values) {
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  std::size_t bytes = 0, i = 0;
  for (const auto& [name, type] : arrays()) bytes += read_array(file, name, type, values[i++]);
  return bytes;
}

std::vector<hsize_t> shape_of(hid_t file, const char* name) {
  const Handle array(H5Dopen2(file, name, H5P_DEFAULT), H5Dclose);
  const Handle space(H5Dget_space(array), H5Sclose);
  std::vector<hsize_t> shape(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
  H5Sget_simple_extent_dims(space, shape.data(), nullptr);
  return shape;
}

void copy_arrays(const Settings& settings) {
  const Handle from(H5Fopen(settings.from.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const Handle to(H5Fcreate(settings.file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                  H5Fclose);
  std::vector<char> values;
  for (const auto& [name, type] : arrays()) {
    read_array(from, name, type, values);
    write_array(to, name, type, shape_of(from, name), settings.gzip, values.data());
  }
}

/// As in the file: numbers as 32-bit floats.
double bytes_of(const kindred::Trajectories& data) {
  return static_cast<double>(data.bytes_in_memory());
}

/// One round of exact policies, of which choosing is made, on richer features and by one thread:
/// the policies of k clusters, and every episode's errors under each.
Line time_round(const kindred::Trajectories& data, std::int64_t k, std::int64_t cosines,
                const kindred::Workers& workers) {
  const kindred::FeatureMap map(data.observations, cosines);
  const kindred::ActionTargets targets(data.actions);
  const kindred::KeptSums sums(data, map, targets, workers);
  std::vector<std::int32_t> labels;
  for (std::int64_t i = 0; i < data.episodes(); ++i)
    labels.push_back(static_cast<std::int32_t>(i % k));
  kindred::ExactPolicies policies;
  const auto m =
      timed([&] { policies = kindred::policy_search::solve_policies(sums, labels, k, kRidge); });
  const auto e = timed([&] { sums.episode_costs(policies.weights, k, policies.noise); });
  return {{"M-step of one round", m["seconds"]}, {"E-step of one round", e["seconds"]}};
}

Line about(const char* row, const Settings& settings) {
  const auto name = std::filesystem::path(settings.file).filename().string();
  return {{"row", row}, {"shape", name}};
}

}  // namespace

void make_file(const Settings& settings) {
  if (!settings.from.empty()) return copy_arrays(settings);
  const auto& problem = settings.problem;
  std::vector<float> observations, actions;
  problem.make(observations, actions);
  const auto steps = static_cast<hsize_t>(problem.steps);
  const std::vector<float> rewards(steps, 1.0F);
  std::vector<std::uint8_t> terminals(steps, 0), timeouts(steps, 0);
  for (hsize_t t = 1; t <= steps; ++t)
    timeouts[t - 1] = t % static_cast<hsize_t>(problem.length) == 0;
  const Handle file(H5Fcreate(settings.file.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                    H5Fclose);
  const bool gzip = settings.gzip;
  write_array(file, "observations", H5T_NATIVE_FLOAT, {steps, kInputs}, gzip, observations.data());
  write_array(file, "actions", H5T_NATIVE_FLOAT, {steps, kActions}, gzip, actions.data());
  write_array(file, "rewards", H5T_NATIVE_FLOAT, {steps}, gzip, rewards.data());
  write_array(file, "terminals", H5T_NATIVE_UINT8, {steps}, gzip, terminals.data());
  write_array(file, "timeouts", H5T_NATIVE_UINT8, {steps}, gzip, timeouts.data());
}

void time_hdf5(const Settings& settings) {
  std::array<std::vector<char>, 5> values;
  auto line = about("read", settings);
  line["who"] = "HDF5's own functions";
  line["bytes"] = static_cast<double>(read_arrays(settings.file, values));
  settings.turns.take(line, [&] { return timed([&] { read_arrays(settings.file, values); }); });
}

void time_read(const Settings& settings) {
  auto line = about("read", settings);
  line["who"] = "Kindred";
  line["bytes"] = bytes_of(kindred::read_trajectories(settings.file));
  settings.turns.take(line,
                      [&] { return timed([&] { kindred::read_trajectories(settings.file); }); });
}

void time_phases(const Settings& settings) {
  auto line = about("phases", settings);
  line["who"] = "Kindred";
  settings.turns.take(
      line,
      [&] {
        kindred::DatasetOptions options;
        options.files = {settings.file};
        kindred::Dataset dataset;
        const auto read = timed([&] { dataset = options.load(); });
        const auto method = kindred::find_method("pg-kmeans").make();
        kindred::RunContext run;
        static_cast<kindred::Workers&>(run) = kindred::Workers(settings.threads);
        kindred::ClusterOutcome outcome;
        const auto rest = timed([&] {
          outcome = kindred::cluster({.dataset = options,
                                      .method = method.get(),
                                      .folder = kindred::RunFolder(settings.folder),
                                      .command = "bench",
                                      .config = "",
                                      .force = true},
                                     dataset, run);
        });
        const auto& took = outcome.record.timings;
        const double statistics = took.at("statistics"), fit = took.at("fit"),
                     labels = took.at("all_trajectories");
        const std::int64_t k = outcome.record.result.at("k");
        Line phases{{"read", read["seconds"]},
                    {"statistics", statistics},
                    {"choose", fit - statistics - labels},
                    {"label all episodes", labels},
                    {"write", rest["seconds"].get<double>() - fit}};
        phases.update(time_round(dataset.data, k, settings.cosines, run));
        return Line{{"seconds", read["seconds"].get<double>() + rest["seconds"].get<double>()},
                    {"cpu", read["cpu"].get<double>() + rest["cpu"].get<double>()},
                    {"phases", phases},
                    {"after", k}};
      },
      /*warm_up=*/false);
}

}  // namespace bench
