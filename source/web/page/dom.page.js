/** The few ways in which this page touches the document. Text only ever goes in as text. */

/**
Makes an element. Strings among the children become text nodes; `on` is an object of listeners; the rest are attributes.
*/
export function make(tag, {on = {}, ...attributes} = {}, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(attributes)) {
		setAttribute(element, name, value);
	}

	for (const [name, listener] of Object.entries(on)) {
		element.addEventListener(name, listener);
	}

	element.append(...children.filter((child) => child !== undefined));
	return element;
}

const svgSpace = 'http://www.w3.org/2000/svg';

export function makeSvg(tag, attributes = {}, ...children) {
	const element = document.createElementNS(svgSpace, tag);
	for (const [name, value] of Object.entries(attributes)) {
		setAttribute(element, name, value);
	}

	element.append(...children);
	return element;
}

/** Undefined and false remove it. Nothing is touched that is right already: so nothing flickers and no reader is disturbed. */
export function setAttribute(element, name, value) {
	if (value === undefined || value === false) {
		element.removeAttribute(name);
	} else if (element.getAttribute(name) !== String(value)) {
		element.setAttribute(name, value === true ? '' : String(value));
	}
}

export function setText(element, text) {
	const words = String(text ?? '');
	if (element.textContent !== words) {
		element.textContent = words;
	}
}

/** A part of a whole, for the style sheet: 0 to 100. */
export function setShare(element, percent) {
	const share = `${Math.min(100, Math.max(0, percent ?? 0)).toFixed(1)}%`;
	if (element.style.getPropertyValue('--share') !== share) {
		element.style.setProperty('--share', share);
	}
}

/**
Brings a list to what `items` says, keeping the element of each key, and with it focus and what is open in it.

@param makeItem - Given the first item of a key, returns {element, update}.
*/
export function keyedList(container, makeItem) {
	const known = new Map();
	return {
		parts: known,
		update(items, keyOf) {
			const keys = new Set();
			let place = container.firstElementChild;
			for (const item of items) {
				const key = keyOf(item);
				keys.add(key);
				const part = known.get(key) ?? makeItem(item);
				known.set(key, part);
				part.update(item);
				if (part.element === place) {
					place = place.nextElementSibling;
				} else {
					container.insertBefore(part.element, place);
				}
			}

			for (const [key, part] of known) {
				if (keys.has(key)) {
					continue;
				}

				part.element.remove();
				part.end?.();
				known.delete(key);
			}
		},
	};
}
