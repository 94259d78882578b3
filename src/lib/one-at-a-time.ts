import { reportFault } from './fault.ts'

/**
 * A function that has `ask` done, one at a time: once more, however often it is called meanwhile, and as long as `ask` answers
 * true. `ask` must not reject.
 */
export function oneAtATime(ask: () => Promise<boolean>): () => void {
  let isAsking = false
  let asksAgain = false
  const askOn = async (): Promise<void> => {
    isAsking = true
    do asksAgain = false
    while ((await ask()) || asksAgain)
    isAsking = false
  }
  return () => {
    if (isAsking) asksAgain = true
    else askOn().catch(reportFault)
  }
}
