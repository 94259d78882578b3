/** `npm run bench [names…]`: runs benchmark programs one after the other, prints their tables, keeps their values. */
import { type BenchOptions, parseOptions, usage } from './bench-options.ts'
import { benchAddedWaits } from './added-waits.ts'
import { benchCompressBeside } from './compress-beside.ts'
import { benchEventDelays } from './event-delays.ts'
import { benchFirstCall } from './first-call.ts'
import { benchFewClients, benchJsonCalls } from './json-calls.ts'
import { benchLargePrompt } from './large-prompt.ts'
import { benchLoadedPage } from './loaded-page.ts'
import { benchOpenStreams } from './open-streams.ts'
import { benchStreamedEvents } from './streamed-events.ts'
import { benchPolledOverview } from './polled-overview.ts'
import { benchQuestions } from './questions.ts'
import { benchRawLog } from './raw-log.ts'
import { benchFeedReaders } from './feed-readers.ts'
import { benchObservedCalls, benchObservedEvents } from './observed-gateway.ts'
import { benchStart } from './start.ts'
import { type BenchResult, formatTable, verdict, writeResult } from './summary.ts'
import { absence, streamAbsence } from './targets/target.ts'

const programs: Readonly<Record<string, (options: BenchOptions) => Promise<BenchResult>>> = {
  p1: benchJsonCalls,
  p1b: benchFewClients,
  p2: benchStreamedEvents,
  p3: benchAddedWaits,
  p4: benchEventDelays,
  p5: benchOpenStreams,
  p6: benchPolledOverview,
  p7: benchQuestions,
  p9: benchStart,
  page: benchLoadedPage,
  p10: benchLargePrompt,
  p11: benchCompressBeside,
  p12: benchFirstCall,
  'raw-log': benchRawLog,
  feed: benchFeedReaders,
  observed: benchObservedCalls,
  'observed-p2': benchObservedEvents,
}
/** Left out of a run of all programs when no database is named. */
const needDatabase: ReadonlySet<string> = new Set(['p7', 'p9', 'page', 'p11'])
/** Programs that hold streams open. */
const ofStreams: ReadonlySet<string> = new Set(['p2', 'p4', 'p5', 'p10'])

function defaultNames({ db }: BenchOptions): readonly string[] {
  return Object.keys(programs).filter((name) => db !== undefined || !needDatabase.has(name))
}

async function run(args: readonly string[]): Promise<void> {
  const asked = parseOptions(args)
  const names = asked.names.length > 0 ? asked.names : defaultNames(asked)
  const unknown = names.filter((name) => !(name in programs))
  if (unknown.length > 0)
    throw new Error(`no program ${unknown.join(', ')}; there are ${Object.keys(programs).join(', ')}`)
  const present = asked.targets.filter((target) => isUsable(target, absence(target)))
  for (const name of names) {
    const targets = ofStreams.has(name)
      ? present.filter((target) => isUsable(target, streamAbsence(target, asked.clients)))
      : present
    const result = await programs[name]!({ ...asked, targets })
    console.log(`\n${result.title}\n${formatTable(result.table)}`)
    for (const goal of result.goals) console.log(verdict(goal))
    for (const note of result.notes) console.log(`! ${note}`)
    console.log(`values: ${await writeResult(result)}`)
  }
}

function isUsable(target: string, absence: string | undefined): boolean {
  if (absence !== undefined) console.log(`${target} is left out: ${absence}`)
  return absence === undefined
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
  process.exitCode = 1
}
