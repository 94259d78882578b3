/** Longest error message that is kept, in characters. */
export const longestMessage = 500

/** Of a longer one so much is looked at: a mask shortens what comes before. The last character tells that there is more. */
export const longestLooked = 4 * longestMessage + 1
