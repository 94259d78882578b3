/** `npm run bench [names…]`: runs benchmark programs one after the other, prints their tables, keeps their values. */
import { type BenchOptions, parseOptions, usage } from './bench-options.ts'
import { benchCompressBeside } from './compress-beside.ts'
import { benchJsonCalls } from './json-calls.ts'
import { benchLoadedPage } from './loaded-page.ts'
import { benchOpenStreams } from './open-streams.ts'
import { benchStreamedEvents } from './streamed-events.ts'
import { benchPolledOverview } from './polled-overview.ts'
import { benchQuestions } from './questions.ts'
import { benchRawLog } from './raw-log.ts'
import { benchFeedReaders } from './feed-readers.ts'
import { benchStart } from './start.ts'
import { type BenchResult, formatTable, verdict, writeResult } from './summary.ts'
import { absence } from './target.ts'

const programs: Readonly<Record<string, (options: BenchOptions) => Promise<BenchResult>>> = {
  p1: benchJsonCalls,
  p2: benchStreamedEvents,
  p5: benchOpenStreams,
  p6: benchPolledOverview,
  p7: benchQuestions,
  p9: benchStart,
  page: benchLoadedPage,
  p11: benchCompressBeside,
  'raw-log': benchRawLog,
  feed: benchFeedReaders,
}
/** Left out of a run of all programs when no database is named. */
const needDatabase: ReadonlySet<string> = new Set(['p7', 'p9', 'page', 'p11'])

function defaultNames({ db }: BenchOptions): readonly string[] {
  return Object.keys(programs).filter((name) => db !== undefined || !needDatabase.has(name))
}

async function run(args: readonly string[]): Promise<void> {
  const asked = parseOptions(args)
  const names = asked.names.length > 0 ? asked.names : defaultNames(asked)
  const unknown = names.filter((name) => !(name in programs))
  if (unknown.length > 0)
    throw new Error(`no program ${unknown.join(', ')}; there are ${Object.keys(programs).join(', ')}`)
  const targets = asked.targets.filter((name) => {
    const reason = absence(name)
    if (reason !== undefined) console.log(`${name} is left out: ${reason}`)
    return reason === undefined
  })
  for (const name of names) {
    const result = await programs[name]!({ ...asked, targets })
    console.log(`\n${result.title}\n${formatTable(result.table)}`)
    for (const goal of result.goals) console.log(verdict(goal))
    for (const note of result.notes) console.log(`! ${note}`)
    console.log(`values: ${await writeResult(result)}`)
  }
}

try {
  await run(process.argv.slice(2))
} catch (error) {
  console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`)
  process.exitCode = 1
}
