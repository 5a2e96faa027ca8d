/** The environment variable with the id of a queue entry for `--on any`. Entries of versions without it never move. */
export const queueEntryVariable = 'CANHAZGPU_QUEUE_ENTRY';

/** The exit code of a request that was cancelled to move to another host. */
export const movedExitCode = 3;
