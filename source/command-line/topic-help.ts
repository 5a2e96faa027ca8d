import {CanhazgpuError, quoted} from '../errors.js';
import {markdownText} from '../format/markdown/terminal.js';
import type {Output} from '../format/text/output-columns.js';
import {createPaint} from '../format/text/paint.js';
import {schemas} from '../help/schema/index.js';
import {findTopic, topicNames, topics} from '../help/topics.js';
import {commandNames, findCommand} from './find-command.js';
import {strayWord} from './usage-errors.js';
import {columnsFor, commandHelp} from './help.js';
import {nearest, otherNameOf} from './suggestions.js';

const topicMeant = (word: string): string | undefined =>
	Object.entries(topics).find(([, {otherNames}]) => otherNames.includes(word))?.[0] ??
	(word.length > 1 ? topicNames.find((name) => name.startsWith(word)) : undefined);

/** Throws the error for an unknown word. If the word resembles a command, throws the same error as `canhazgpu WORD`. */
async function refuse(word: string): Promise<never> {
	const typed = word.toLowerCase();
	const topic = topicMeant(typed);
	const names = [...commandNames, ...topicNames];
	const guess = names.includes(typed) ? typed : (otherNameOf(typed) ?? topic ?? nearest(typed, names));
	if (guess !== undefined && commandNames.includes(guess) && topic === undefined) {
		await findCommand(word);
	}

	throw new CanhazgpuError('usage', `Unknown command or help topic ${quoted(word)}`, {
		hint: guess === undefined ? 'See all of them: canhazgpu help' : `Did you mean: canhazgpu help ${guess}`,
	});
}

async function schemaText(name: string): Promise<string> {
	const load = Object.hasOwn(schemas, name) ? schemas[name] : undefined;
	if (load === undefined) {
		const guess = nearest(name, Object.keys(schemas));
		throw new CanhazgpuError('usage', `There is no schema ${quoted(name)}`, {
			hint: guess === undefined ? 'See all of them: canhazgpu help json' : `Did you mean: canhazgpu help json ${guess}`,
		});
	}

	const {default: schema} = await load();
	return JSON.stringify(schema, undefined, 2);
}

type HelpOptions = {
	readonly isPlain: boolean;
	/** The stream on which the text will be printed. Without a stream, the text has no colors and is 80 columns wide. */
	readonly output?: Output | undefined;
	readonly environment: Readonly<Record<string, string | undefined>>;
};

/** Returns the help on a command or topic. Throws `usage` with the nearest command or topic. */
export async function helpOn(
	[word = '', ...others]: readonly string[],
	{isPlain, output, environment}: HelpOptions,
): Promise<string> {
	const [name, stray] = word === 'json' ? others : [undefined, ...others];
	if (stray !== undefined) {
		throw strayWord('help', stray);
	}

	if (name !== undefined) {
		return schemaText(name);
	}

	const isCommand = commandNames.includes(word);
	const topic = findTopic(word);
	if (!isCommand && topic === undefined) {
		return refuse(word);
	}

	const columns = columnsFor(output, environment);
	const ownHelp = isCommand ? [commandHelp(await findCommand(word), columns)] : [];
	if (topic === undefined) {
		return ownHelp.join('');
	}

	const {default: markdown} = await topic.load();
	const paint = createPaint(output !== undefined && !isPlain, environment);
	// Not every terminal has colors: TERM=dumb has none.
	const hasColor = paint.bold('x') !== 'x';
	const text = markdownText(markdown, {columns, paint, hasColor});
	return [...ownHelp, text].join('\n\n');
}
