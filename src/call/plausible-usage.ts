/** Most tokens of one kind that one call can have used: what tells of more tells of nothing. */
export const mostTokens = 1e9

/** Most that one call can have cost, in nano-dollars: 1,000 USD. */
export const mostCostNanoUsd = 1e12
