// Who acted when, as one record to show to a person: report-ui/src/segments/record.ts says what it
// holds.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "kindred/data/trajectories.h"
#include "kindred/findings/pictures.h"
#include "kindred/runs/segments.h"

namespace kindred {

/// `data` is what the segments were found in, `pictures` where its cameras' pictures are. Throws
/// DataFormatError when the folder is damaged or its segments are not those of the data's episodes.
nlohmann::ordered_json segments_record(const SegmentFolder& folder, const LoadedSegments& loaded,
                                       const Trajectories& data,
                                       const PictureOptions& pictures = {});

/// One sentence of what segments.json says: how many policies, and whether they take turns.
std::string segments_conclusion(const nlohmann::ordered_json& record);

}  // namespace kindred
