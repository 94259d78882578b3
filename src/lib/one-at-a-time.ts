import { reportFault } from './fault.ts'

/**
 * Returns a function that runs `ask`, never twice at the same time. Calls during a run cause one more run,
 * and so does a result of true. `ask` must not reject.
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
