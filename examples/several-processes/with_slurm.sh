#!/bin/bash
#SBATCH --ntasks=16
#SBATCH --cpus-per-task=4
# Clusters a dataset by all tasks of a job of Slurm: sbatch with_slurm.sh /shared/data.hdf5
# Every task has to see the file; the first writes the run. A task that is lost ends the others, and
# the same command with --resume goes on.
srun kindred cluster "$1" --threads "$SLURM_CPUS_PER_TASK" -o "${1%.*}-run"

# From Python it is the communicator "env":
# srun python -c "import kindred, sys; kindred.cluster(sys.argv[1], run='run', communicator='env')" "$1"
