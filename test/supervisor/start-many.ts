import { makeSupervisor } from './workplace.ts'

/*
 * A dashboard's process, as far as starting goes: `start-many.ts <folder> <starts> <options …>`. Starts the
 * gateway so many times at once, prints the answers as JSON, and ends.
 */
const [folder = '', starts = '', ...args] = process.argv.slice(2)
const supervisor = makeSupervisor(folder, { args })
const outcomes = await Promise.allSettled(Array.from({ length: Number(starts) }, () => supervisor.start()))
supervisor.close()
console.log(
  JSON.stringify(
    outcomes.map((outcome) => (outcome.status === 'fulfilled' ? outcome.value : String(outcome.reason))),
  ),
)
