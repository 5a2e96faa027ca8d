/** How many columns of a terminal a text takes, by the library of that name. */
export const stringWidth: (text: string) => number;
