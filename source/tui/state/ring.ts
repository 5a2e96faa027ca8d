/** Returns the next or previous element of a list. After the last element comes the first. */
export const neighborOf = <Element>(ring: readonly Element[], element: Element, step: 1 | -1): Element =>
	ring[(ring.indexOf(element) + step + ring.length) % ring.length]!;
