/** Additional keys of the page: arrows to move between similar elements, `/`, and Escape. Loaded when the first key is pressed. */

type Box = {readonly left: number; readonly top: number; readonly bottom: number};

/** Returns the nearest element in the row above (-1) or below (1). Undefined if there is no such row. */
function inNextRow<Item extends Element>(items: readonly Item[], from: Item, direction: 1 | -1): Item | undefined {
	const boxOf = (item: Item): Box => item.getBoundingClientRect();
	const own = boxOf(from);
	const beyond = items.filter((item) =>
		direction === 1 ? boxOf(item).top >= own.bottom : boxOf(item).bottom <= own.top,
	);
	const rowTop =
		direction === 1
			? Math.min(...beyond.map((item) => boxOf(item).top))
			: Math.max(...beyond.map((item) => boxOf(item).top));
	return beyond
		.filter((item) => boxOf(item).top === rowTop)
		.toSorted((a, b) => Math.abs(boxOf(a).left - own.left) - Math.abs(boxOf(b).left - own.left))[0];
}

/** Moves the focus with the arrow keys, Home and End among the elements that `data-arrows` selects. Does not change what Tab does. */
function moveFocus({target, key}: KeyboardEvent): boolean {
	if (!(target instanceof HTMLElement)) {
		return false;
	}

	const group = target.closest<HTMLElement>('[data-arrows]');
	const items = [...(group?.querySelectorAll<HTMLElement>(group.dataset['arrows']!) ?? [])];
	const index = items.indexOf(target);
	if (index === -1) {
		return false;
	}

	const own = items[index]!;
	const targets: Readonly<Record<string, () => HTMLElement | undefined>> = {
		ArrowLeft: () => items[index - 1],
		ArrowRight: () => items[index + 1],
		ArrowUp: () => inNextRow(items, own, -1),
		ArrowDown: () => inNextRow(items, own, 1),
		Home: () => items[0],
		End: () => items.at(-1),
	};
	const next = targets[key]?.();
	next?.focus();
	return next !== undefined;
}

const hasDialog = (): boolean => document.querySelector('dialog[open]') !== null;

/** Closes the open card that has the focus. Otherwise, closes all open cards. If no card is open, returns from one host to all hosts. */
function closeShown(): boolean {
	if (hasDialog()) {
		// Does nothing, because the browser closes the dialog.
		return false;
	}

	const shown = document.querySelector('.view:not([hidden])');
	const open = [...(shown?.querySelectorAll('.gpu[data-open]') ?? [])];
	const own = open.filter((card) => card.contains(document.activeElement));
	for (const card of own.length > 0 ? own : open) {
		const button = card.querySelector<HTMLElement>(':scope h3 button')!;
		button.click();
		if (card === own[0]) {
			button.focus();
		}
	}

	const back = open.length === 0 ? shown?.querySelector<HTMLElement>('[data-back]') : undefined;
	back?.click();
	return open.length > 0 || Boolean(back);
}

/** Shows and focuses the filter field, unless the user is typing in another field. */
function startFilter({target}: KeyboardEvent): boolean {
	const place = document.querySelector<HTMLElement>(
		'.view:not([hidden]) #filter, .view:not([hidden]) [href="#/gpus?filter="]',
	);
	if (place === null || !(target instanceof Element) || target.matches('input, select') || hasDialog()) {
		return false;
	}

	if (place instanceof HTMLInputElement) {
		place.select();
	} else {
		place.click();
	}

	return true;
}

const actions: Readonly<Record<string, (event: KeyboardEvent) => boolean>> = {'/': startFilter, Escape: closeShown};

export function pressed(event: KeyboardEvent): void {
	// Shift is allowed with the slash, because some keyboards need Shift to type a slash.
	const isShifted = event.shiftKey && event.key !== '/';
	const isPlain = !(event.ctrlKey || event.altKey || event.metaKey || isShifted || event.defaultPrevented);
	if (isPlain && (actions[event.key] ?? moveFocus)(event)) {
		event.preventDefault();
	}
}
