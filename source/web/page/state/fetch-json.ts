const patienceMs = 10_000;

/**
Requests JSON. Rejects with a message for the user: why the server refused the request, or that the server does not answer.
@param signal - Cancels the request.
*/
export async function fetchJson<Value>(path: string, signal?: AbortSignal): Promise<Value> {
	const tooLate = AbortSignal.timeout(patienceMs);
	const answer = await fetch(path, {signal: signal ? AbortSignal.any([signal, tooLate]) : tooLate}).catch(
		(error: unknown) => {
			const isLate = error instanceof DOMException && error.name === 'TimeoutError';
			const words = isLate ? `The server did not answer within ${patienceMs / 1000} s` : 'The server cannot be reached';
			throw new Error(words, {cause: error});
		},
	);
	const found = (await answer.json()) as Value & {readonly error?: string};
	if (found.error !== undefined) {
		throw new Error(found.error);
	}

	return found;
}
