// What the ruler can measure: each row says how its turns are taken. `main` chooses one.
#pragma once

#include <cstdint>
#include <string>

#include "problem.h"
#include "turns.h"

namespace bench {

struct Settings {
  Turns turns;
  std::string device = "cpu";  ///< Of networks.
  int threads = 0;             ///< 0: every core.
  Problem problem;
  Sequences sequences;
  std::string file;    ///< A dataset that is read, or made.
  std::string folder;  ///< For what is written.
  std::string from;    ///< A dataset whose numbers are those of the file that is made.
  bool gzip = false;   ///< Of a file that is made.
  std::int64_t cosines = 60;
  std::int64_t starts = 16;
};

// The machine itself (machine.cpp).
void time_sgemm(const Settings& settings);
void time_dgemm(const Settings& settings);
void time_copy(const Settings& settings);
/// A file's bytes: `cold` ones come from the disk, others from the system's memory.
void time_bytes(const Settings& settings, bool cold);

// Files (files.cpp).
/// Writes the problem, or the numbers of another file, in D4RL's layout.
void make_file(const Settings& settings);
/// The arrays of a file by HDF5 alone, and by Kindred.
void time_hdf5(const Settings& settings);
void time_read(const Settings& settings);
/// All of `kindred cluster` but starting it: reading, statistics, choosing k, labelling, writing;
/// and the two steps of one round beside it.
void time_phases(const Settings& settings);

// Policies (policies.cpp).
void time_products(const Settings& settings);
void time_statistics(const Settings& settings);
void time_m_step(const Settings& settings);
void time_e_step(const Settings& settings);
void time_labels(const Settings& settings);
void time_gpu_m_step(const Settings& settings);  // gpu_policies.cpp
void time_gpu_e_step(const Settings& settings);
/// The exact search for the partition and its k.
void time_search(const Settings& settings);

// The trajectory autoencoder (autoencoder.cpp).
void time_encoder(const Settings& settings);
void time_caae(const Settings& settings);

}  // namespace bench
