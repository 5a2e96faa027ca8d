/** The environment variable with the id of a queue entry of `--on any`. Older versions ignore it, so their entries cannot move to another host. */
export const queueEntryVariable = 'CANHAZGPU_QUEUE_ENTRY';

/** The exit code of a request that was cancelled to move to another host. */
export const movedExitCode = 3;
