/**
`GPU 3`, `GPUs 1,3`.

@param gpus
@param most - More than so many are only counted: `12 GPUs`.
*/
export const gpuList = (gpus: readonly number[], most = Infinity): string =>
	gpus.length > most ? `${gpus.length} GPUs` : `${gpus.length === 1 ? 'GPU' : 'GPUs'} ${gpus.join(',')}`;
