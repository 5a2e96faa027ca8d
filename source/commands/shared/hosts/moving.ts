/** The environment variable with the id of a queue entry of `--on any`. Host versions that do not know it choose another id, so the entry cannot move. */
export const queueEntryVariable = 'CANHAZGPU_QUEUE_ENTRY';

/** The exit code of a request that was cancelled to move to another host. */
export const movedExitCode = 3;
