/** `v`: shows the newest message, or the events, with long lines wrapped instead of cut. */
import {sanitize} from '../../format/text/text.js';
import {wrap} from '../../format/text/width.js';
import {outputOf} from '../state/command-line/state.js';
import {eventTime, shownEvents} from '../state/events.js';
import {panelNames} from '../state/panels/state.js';
import {standingMessage} from '../state/standing-message.js';
import type {State} from '../state/state.js';
import {defineCommand} from './command.js';

const frameColumns = 6;

const levelWords = {plain: '', warning: 'WARN ', error: 'ERR '} as const;

const messagesOf = (state: State): ReadonlyArray<readonly string[]> =>
	[standingMessage(state), state.flash ?? state.lastFlash]
		.filter((message) => message !== undefined)
		.map(({text, command, next}) => [
			text,
			...[next, command].filter((shell) => shell !== undefined).map((shell) => `$ ${shell}`),
		]);

const textsOf = (state: State): readonly string[] =>
	state.panels.focus === 'events'
		? shownEvents(state).map(({time, words, level}) => `${eventTime(time, state)} ${levelWords[level]}${words}`)
		: messagesOf(state).flatMap((texts, index) => (index === 0 ? texts : ['', ...texts]));

export const readWhole = defineCommand({
	name: 'read-whole',
	keys: {modes: panelNames, keys: ['v'], help: ['Monitor', 'show whole message']},
	reasonAgainst: (state) =>
		textsOf(state).length > 0
			? undefined
			: state.panels.focus === 'events'
				? 'Nothing has happened yet'
				: 'There has been no message yet',
	begin({store}) {
		const state = store.getState();
		const lines = textsOf(state).flatMap((text) =>
			text === '' ? [''] : wrap(sanitize(text), state.size.columns - frameColumns, Infinity),
		);
		return {kind: 'opened', dialog: outputOf(state.panels.focus === 'events' ? 'Events' : 'Messages', lines)};
	},
});
