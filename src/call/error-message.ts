/** Longest error message that is kept, in characters. */
export const longestMessage = 500

/** So many times what is kept is looked at: a mask shortens what comes before. */
export const lookAhead = 4

/** Of a longer one so much is worth handing on; its last character tells that there is more. */
export const longestLooked = lookAhead * longestMessage + 1
