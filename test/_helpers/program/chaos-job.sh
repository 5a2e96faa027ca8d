# Locks its GPUs with flock while it runs, and reports every GPU that another job has already locked.
# $1: the GPUs, such as 0,1. Default: those of `run`. $2: seconds to run. $3: the name of this job.
for gpu in $(echo "${1:-$CUDA_VISIBLE_DEVICES}" | tr , " "); do
	exec {lock}> "gpu-$gpu"
	flock -n "$lock" || echo "GPU $gpu: $3 came while $(cat "holder-$gpu") had it" >> twice
	echo "$3 ($$)" > "holder-$gpu"
done
echo "$PPID" > "job-$$"
# Waits without a child process, which would keep the locks if this script is killed.
exec {nap}<> <(:)
read -r -t "$2" -u "$nap"
rm -f "job-$$"
