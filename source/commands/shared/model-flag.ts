/** `--model` without a name in it: what could be named, which only a look at the GPUs tells. */
import {inventoryText} from '../../core/rules/allocation/impossible.js';
import {CanhazgpuError} from '../../errors.js';
import {sanitize} from '../../format/text/text.js';
import type {App} from '../../app/contract.js';
import type {Input} from '../../command-line/command.js';

/** The models of this pool, as far as they can be known in passing. */
async function modelsOfPool(app: App): Promise<string> {
	try {
		const world = await app.open({willScan: true});
		try {
			const [{gpus}, observation] = await Promise.all([world.store.read(), world.gpus.observe()]);
			return inventoryText(observation.gpus.filter(({index}) => index < gpus.length));
		} finally {
			await world.close();
		}
	} catch {
		return '';
	}
}

/** @throws CanhazgpuError `usage` that names the models of the pool. */
export async function requireModelNames(app: App, input: Input): Promise<void> {
	// Whatever else is no name was refused with the flags.
	if (input.text('model') !== '') {
		return;
	}

	const isElsewhere = input.has('on') || (await app.foreignEngine()) !== undefined;
	const models = isElsewhere ? '' : await modelsOfPool(app);
	throw new CanhazgpuError('usage', '--model must be models of GPUs, not ""', {
		hint: models === '' ? 'Write --model NAMES, such as h100,a100' : `The pool has ${sanitize(models)}.`,
	});
}
