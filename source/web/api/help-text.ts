import {markdownText} from '../../format/markdown/terminal.js';
import {createPaint} from '../../format/text/paint.js';
import {findTopic, topics} from '../../help/topics.js';

const columns = 100;

export function helpIndex(): string {
	const widest = Math.max(...Object.keys(topics).map(({length}) => length));
	const lines = Object.entries(topics).map(([name, {summary}]) => `/help/${name.padEnd(widest)}  ${summary}`);
	return `The documentation of canhazgpu. In a shell: canhazgpu help TOPIC\n\n${lines.join('\n')}\n`;
}

export async function helpText(name: string): Promise<string | undefined> {
	const topic = findTopic(name);
	if (topic === undefined) {
		return undefined;
	}

	const {default: markdown} = await topic.load();
	return `${markdownText(markdown, {columns, paint: createPaint(false, {}), hasColor: false})}\n`;
}
