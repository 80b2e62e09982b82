#include <optional>

#include "bindings.h"
#include "kindred/core/thread_pool.h"
#include "kindred/segments/segmentation.h"
#include "task.h"

namespace kindred::python {
namespace {

template <class T>
nb::ndarray<nb::numpy, T> array(std::vector<T> values) {
  const auto size = values.size();
  return owned_array(std::move(values), {size});
}

/// Who acted when in a dataset, found on a thread of its own.
class SegmentJob {
 public:
  /// `known` are labels of episodes from which policies are known, or empty.
  SegmentJob(const PyDataset& data, const std::string& options, std::vector<std::int32_t> known,
             int threads)
      : data_(data), known_(std::move(known)) {
    from_json(options_.describe(), nlohmann::json::parse(options), "segment");
    RunContext run;
    run.pool = std::make_shared<ThreadPool>(threads);
    task_.emplace(std::move(run), [this](const RunContext& context) {
      found_ = segment(data_.dataset.data, options_, context, known_);
    });
  }

  bool wait(double seconds) { return task_->wait(seconds); }
  void stop() { task_->stop(); }
  auto progress() { return task_->progress(); }

  /// Policies, the rate of switches and held-out scores. Throws what ended it.
  std::string result() {
    task_->check();
    const nlohmann::ordered_json json = {
        {"k", found_.policies}, {"switches", found_.switches()},     {"rate", found_.rate},
        {"v", found_.v},        {"v_of_nobody", found_.v_of_nobody}, {"v_of_one", found_.v_of_one}};
    return json.dump();
  }

  auto actors() const { return array(found_.actors); }
  auto chances() const { return array(found_.chances); }

  /// Columns of integers, one item per segment: episode, start, end, policy, earliest, latest.
  auto columns() const {
    std::vector<std::int64_t> values;
    for (const auto member : {&Segment::episode, &Segment::begin, &Segment::end})
      for (const auto& one : found_.segments) values.push_back(one.*member);
    for (const auto& one : found_.segments) values.push_back(one.policy);
    for (const auto member : {&Segment::earliest, &Segment::latest})
      for (const auto& one : found_.segments) values.push_back(one.*member);
    return owned_array(std::move(values), {6, found_.segments.size()});
  }

  auto posteriors() const {
    std::vector<double> values;
    for (const auto& one : found_.segments) values.push_back(one.chance);
    return array(std::move(values));
  }

  /// Columns of integers, one item per policy that may have acted in an unsure stretch: episode,
  /// start, end, policy, and the first and last step at which it may have acted.
  auto unsure_columns() const {
    std::vector<std::int64_t> values;
    std::size_t rows = 0;
    const auto add = [&](const auto& get) {
      rows = 0;
      for (const auto& one : found_.unsure)
        for (const auto& candidate : one.candidates) {
          values.push_back(get(one, candidate));
          ++rows;
        }
    };
    add([](const auto& one, const auto&) { return one.episode; });
    add([](const auto& one, const auto&) { return one.begin; });
    add([](const auto& one, const auto&) { return one.end; });
    add([](const auto&, const auto& candidate) { return candidate.policy; });
    add([](const auto&, const auto& candidate) { return candidate.first; });
    add([](const auto&, const auto& candidate) { return candidate.end - 1; });
    return owned_array(std::move(values), {6, rows});
  }

  auto unsure_posteriors() const {
    std::vector<double> values;
    for (const auto& one : found_.unsure)
      for (const auto& candidate : one.candidates) values.push_back(candidate.chance);
    return array(std::move(values));
  }

 private:
  PyDataset data_;
  SegmentOptions options_;
  std::vector<std::int32_t> known_;
  Segmentation found_;
  std::optional<Task> task_;  // the last: it ends before what it uses
};

}  // namespace

void bind_segments(nb::module_& module) {
  nb::class_<SegmentJob>(module, "SegmentJob")
      .def(nb::init<const PyDataset&, const std::string&, std::vector<std::int32_t>, int>(),
           nb::arg("data"), nb::arg("options"), nb::arg("known"), nb::arg("threads"))
      .def("wait", &SegmentJob::wait, nb::arg("seconds"))
      .def("stop", &SegmentJob::stop)
      .def("progress", &SegmentJob::progress)
      .def("result", &SegmentJob::result)
      .def("actors", &SegmentJob::actors)
      .def("chances", &SegmentJob::chances)
      .def("columns", &SegmentJob::columns)
      .def("posteriors", &SegmentJob::posteriors)
      .def("unsure_columns", &SegmentJob::unsure_columns)
      .def("unsure_posteriors", &SegmentJob::unsure_posteriors);
}

}  // namespace kindred::python
