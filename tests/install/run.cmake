# Installs the build into a folder of its own, then configures, builds and runs the consumer
# project against nothing but that folder.
#   cmake -D BUILD=<build folder> -D CXX=<compiler> -D CXX_FLAGS=<flags> -D PARQUET=<ON or OFF>
#         -D MUJOCO=<ON or OFF> -P run.cmake
set(work ${BUILD}/install-test)
file(REMOVE_RECURSE ${work})

function(run)
  string(REPLACE ";" " " shown "${ARGN}")
  message(STATUS "${shown}")
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${work} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${work})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/consumer -B ${work}/build -G Ninja
    -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_CXX_FLAGS=${CXX_FLAGS} -D CMAKE_BUILD_TYPE=Debug
    -D CMAKE_PREFIX_PATH=${work}/prefix)
run(${CMAKE_COMMAND} --build ${work}/build)
run(${work}/build/consumer)
run(${work}/build/consumer_of_all)
if(EXISTS ${work}/prefix/bin/kindred)
  run(${work}/prefix/bin/kindred --version)
  # What needs LibTorch, Arrow or MuJoCo is in libraries of its own, which the program has to find.
  run(${work}/prefix/bin/kindred generate diagonal --per-expert 10 -o walks.h5)
  run(${work}/prefix/bin/kindred cluster walks.h5 --method caae -k 2 --max-steps 3 -o networks)
  if(PARQUET)
    run(${work}/prefix/bin/kindred info ${CMAKE_CURRENT_LIST_DIR}/../fixtures/lerobot/v3)
  endif()
  if(MUJOCO)
    run(${work}/prefix/bin/kindred generate hopper-expert --steps 20 -o hops.h5)
  endif()
endif()
