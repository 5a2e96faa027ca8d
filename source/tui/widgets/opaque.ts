/**
The background of a box that hides what is behind it. Ink fills a box with blanks in its background colour, and in the terminal's own where it does
not know the colour. A test notices if that ever changes.
*/
export const opaque = 'default';
