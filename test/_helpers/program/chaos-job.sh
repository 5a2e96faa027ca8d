# Locks GPUs for as long as it lives, by locks that the kernel gives back, and writes down where somebody has one already.
# $1: the GPUs, as 0,1; empty: those that `run` gave it. $2: for how many seconds. $3: what to call it.
for gpu in $(echo "${1:-$CUDA_VISIBLE_DEVICES}" | tr , " "); do
	exec {lock}> "gpu-$gpu"
	flock -n "$lock" || echo "GPU $gpu: $3 came while $(cat "holder-$gpu") had it" >> twice
	echo "$3 ($$)" > "holder-$gpu"
done
echo "$PPID" > "job-$$"
# A wait without a child, which would keep the locks when this is killed.
exec {nap}<> <(:)
read -r -t "$2" -u "$nap"
rm -f "job-$$"
