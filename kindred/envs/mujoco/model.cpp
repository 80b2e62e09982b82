#include <mujoco/mujoco.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "kindred/core/embedded.h"
#include "kindred/core/error.h"
#include "kindred/envs/mujoco/model_internal.h"

namespace kindred {

/// The files of models/ (kindred_embed in CMakeLists.txt).
std::span<const EmbeddedFile> locomotion_models();

namespace {

/// MuJoCo ends the program on errors and prints warnings unless it is told otherwise.
void handle_mujoco_messages() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (!mju_user_error)
      mju_user_error = [](const char* message) { throw NumericError("MuJoCo: {}", message); };
    if (!mju_user_warning) mju_user_warning = [](const char*) {};
  });
}

std::string_view model_text(const std::string& file) {
  const auto files = locomotion_models();
  return std::ranges::find(files, file, &EmbeddedFile::name)->bytes;
}

/// A file system of one file, from which MuJoCo loads.
class OneFile {
 public:
  OneFile(const std::string& name, std::string_view bytes) {
    mj_defaultVFS(files_.get());
    mj_makeEmptyFileVFS(files_.get(), name.c_str(), static_cast<int>(bytes.size()));
    std::memcpy(files_->filedata[0], bytes.data(), bytes.size());
  }
  ~OneFile() { mj_deleteVFS(files_.get()); }
  OneFile(const OneFile&) = delete;
  OneFile& operator=(const OneFile&) = delete;

  const mjVFS* get() const { return files_.get(); }

 private:
  std::unique_ptr<mjVFS> files_ = std::make_unique<mjVFS>();  // 2 MB: too large for the stack
};

ModelPtr compile(const std::string& file, std::string_view text) {
  const OneFile files(file, text);
  std::array<char, 1000> error{};
  ModelPtr model(mj_loadXML(file.c_str(), files.get(), error.data(), error.size()));
  if (!model) throw DataFormatError("MuJoCo refuses the model '{}': {}", file, error.data());
  return model;
}

/// Gives every body the mass, and its distribution, that it has in the other model.
void copy_inertia(const mjModel& from, mjModel& to) {
  const auto bodies = static_cast<std::size_t>(to.nbody);
  std::copy_n(from.body_mass, bodies, to.body_mass);
  std::copy_n(from.body_inertia, 3 * bodies, to.body_inertia);
  std::copy_n(from.body_ipos, 3 * bodies, to.body_ipos);
  std::copy_n(from.body_iquat, 4 * bodies, to.body_iquat);
  std::copy_n(from.body_sameframe, bodies, to.body_sameframe);
  const std::unique_ptr<mjData, decltype(&mj_deleteData)> scratch(mj_makeData(&to), mj_deleteData);
  mj_setConst(&to, scratch.get());
}

}  // namespace

void ModelDeleter::operator()(mjModel* model) const { mj_deleteModel(model); }

ModelPtr load_model(std::string_view task, CapsuleInertia inertia) {
  handle_mujoco_messages();
  const auto file = std::string(task) + ".xml";
  const auto text = model_text(file);
  auto model = compile(file, text);
  // The cylinders do nothing but weigh, yet take up to a fifth of a step: only their mass stays.
  if (inertia == CapsuleInertia::kOld) copy_inertia(*compile(file, with_old_inertia(text)), *model);
  return model;
}

}  // namespace kindred
