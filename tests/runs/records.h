// The record of a clustering that no command made.
#pragma once

#include "kindred/runs/dataset.h"
#include "kindred/runs/run_record.h"

namespace kindred::testing {

inline RunRecord record_of(const Clustering& clustering, const Trajectories& data) {
  RunRecord record;
  record.dataset = Dataset{"somewhere.h5", Format::kKindred, data}.describe();
  record.dataset["reading"] = DatasetOptions{}.to_json();
  record.dataset["fingerprint"] = to_json(fingerprint_of(data));
  record.machine = {{"device", "cpu"}, {"threads", 1}, {"peak_rss_mb", 1.0}};
  describe_clustering(clustering, record);
  return record;
}

}  // namespace kindred::testing
