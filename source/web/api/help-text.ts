/** The help topics as plain text, for readers of the dashboard who have no shell at hand. */
import {markdownText} from '../../format/markdown/terminal.js';
import {createPaint} from '../../format/text/paint.js';
import {topics} from '../../help/topics.js';

const columns = 100;

/** What there is to read, each with its address. */
export function helpIndex(): string {
	const widest = Math.max(...Object.keys(topics).map(({length}) => length));
	const lines = Object.entries(topics).map(([name, {summary}]) => `/help/${name.padEnd(widest)}  ${summary}`);
	return `The documentation of canhazgpu. In a shell: canhazgpu help TOPIC\n\n${lines.join('\n')}\n`;
}

/** Undefined for a topic that there is not. */
export async function helpText(name: string): Promise<string | undefined> {
	const topic = Object.hasOwn(topics, name) ? topics[name] : undefined;
	if (topic === undefined) {
		return undefined;
	}

	const {default: markdown} = await topic.load();
	return `${markdownText(markdown, {columns, paint: createPaint(false, {}), hasColor: false})}\n`;
}
