/** Longest error message that is kept, in characters. */
export const longestMessage = 500

/** So many times what is kept is looked at: a mask shortens what comes before. */
export const lookAhead = 4

/** Longest message; the last character of a longer one shows that it was cut. */
export const longestLooked = lookAhead * longestMessage + 1
