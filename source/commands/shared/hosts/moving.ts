/** What both sides of `--on any` agree on, for a request that waits on another host and may move on. */

/** The environment variable by which the waiter there is given the id of its entry in the queue. Versions that do not know it never move. */
export const queueEntryVariable = 'CANHAZGPU_QUEUE_ENTRY';

/** A waiter that was taken out of the queue to go elsewhere ends with this: the GPUs were not available. */
export const movedExitCode = 3;
