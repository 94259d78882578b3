/** The answer to an order that has nothing to tell. */
export interface Done {
  readonly success: true
}

/** Why nothing is told, where the database cannot be read: answers are then as if no call had ever been recorded. */
export interface NoStore {
  /** `missing`, `empty`, `damaged`, … */
  readonly store?: string
  readonly note?: string
}
