/** Passes mouse events to components. A component registers its box and gets the events inside that box. */
import {createContext, use, useEffect, useRef, type RefObject} from 'react';
import type {DOMElement} from 'ink';
import type {MouseEvent} from './input.js';

/** A position inside a box, in terminal columns and rows from the box's upper left corner. */
type Point = {readonly x: number; readonly y: number};

type MouseHandlers = {
	/** Handles a click. Returns false to pass the click to the box behind. */
	readonly onClick?: (point: Point) => boolean;
	/** Handles a turn of the wheel. `lines` is negative if the wheel is turned up. */
	readonly onWheel?: (lines: number, point: Point) => void;
};

type Target = {readonly element: DOMElement; readonly handlers: RefObject<MouseHandlers>};

const wheelLines = 3;

export type MouseTargets = {
	/** Adds a component's box. Returns a function that removes it. */
	readonly add: (target: Target) => () => void;
	/** Passes an event to the boxes at its position, frontmost first, until a box accepts the event. Returns whether a box did. */
	readonly send: (event: MouseEvent) => boolean;
};

type Placed = {
	readonly left: number;
	readonly top: number;
	/** The path from the root to the box: at each level, the index among the siblings. */
	readonly path: readonly number[];
};

/** Returns the position of a box on the screen, from the layout that Ink computed. */
function placeOf(element: DOMElement): Placed {
	let left = 0;
	let top = 0;
	const path: number[] = [];
	for (let node: DOMElement | undefined = element; node !== undefined; node = node.parentNode) {
		left += node.yogaNode?.getComputedLeft() ?? 0;
		top += node.yogaNode?.getComputedTop() ?? 0;
		path.unshift(node.parentNode?.childNodes.indexOf(node) ?? 0);
	}

	return {left, top, path};
}

/** Orders boxes as Ink draws them: parents before their children, siblings from first to last. */
function byDrawing({path: a}: Placed, {path: b}: Placed): number {
	const different = a.findIndex((place, step) => place !== b[step]);
	return different === -1 ? a.length - b.length : a[different]! - (b[different] ?? -1);
}

export function createMouseTargets(): MouseTargets {
	const targets = new Set<Target>();
	return {
		add(target) {
			targets.add(target);
			return () => {
				targets.delete(target);
			};
		},
		send({kind, column, row}) {
			const under = [...targets]
				.map((target) => ({...target, ...placeOf(target.element)}))
				.filter(({element: {yogaNode}, left, top}) => {
					const width = yogaNode?.getComputedWidth() ?? 0;
					const height = yogaNode?.getComputedHeight() ?? 0;
					return column >= left && column < left + width && row >= top && row < top + height;
				})
				.toSorted((a, b) => byDrawing(b, a));
			for (const {handlers, left, top} of under) {
				const {onClick, onWheel} = handlers.current;
				const point = {x: column - left, y: row - top};
				if (kind === 'click' && onClick?.(point) === true) {
					return true;
				}

				if (kind !== 'click' && onWheel !== undefined) {
					onWheel(kind === 'wheel-up' ? -wheelLines : wheelLines, point);
					return true;
				}
			}

			return false;
		},
	};
}

/** The registry of boxes. Components outside of a provider get no mouse events. */
export const MouseContext = createContext<MouseTargets>({add: () => () => undefined, send: () => false});

/** Handles the mouse events inside a box. The component must set the returned ref on its box. */
export function useMouse(handlers: MouseHandlers): RefObject<DOMElement | null> {
	const targets = use(MouseContext);

	const ref = useRef<DOMElement | null>(null);
	const latest = useRef(handlers);
	useEffect(() => {
		latest.current = handlers;
	});
	useEffect(() => (ref.current ? targets.add({element: ref.current, handlers: latest}) : undefined), [targets]);
	return ref;
}
