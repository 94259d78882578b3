/** Whether the time that an answer may take is over. Asked every few milliseconds, so it must be cheap. */
export type IsOver = () => boolean

/** The answer would take longer than its asker gave it. Nothing is wrong: a shorter range or a coarser key would do. */
export class QueryTooSlowError extends Error {
  constructor() {
    super('the answer takes longer than it may')
    this.name = 'QueryTooSlowError'
  }
}
