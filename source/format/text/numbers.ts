/** `8452MB`: the unit is MiB, written as the GPU tools and the peer write it. */
export const mebibytes = (amount: number): string => `${Math.round(amount)}MB`;

/** `1 GPU`, `2 GPUs`. */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
