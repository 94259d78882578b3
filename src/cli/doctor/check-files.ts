import { accessSync, constants, existsSync, globSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { isFileLocked } from '../../lib/file-lock.ts'
import { placeForEditor, priceFileOf, readPricesInForce } from '../../pricing/price-file.ts'
import { quickCheck } from '../../store/jobs/quick-check.ts'
import { schemaVersion, versionOf } from '../../store/sqlite/migrate.ts'
import { absenceText, assertSafe, openForReading } from '../../store/sqlite/open-store.ts'
import { instanceLockPath } from '../../store/sqlite/instance-number.ts'
import { jobLockPath } from '../../store/sqlite/store-files.ts'
import { bytes, count } from '../terminal/figures.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

/** A database and payloads of a day of calls fit in the first; below the second SQLite soon cannot write. */
const plentyBytes = 1e9
const leastBytes = 100e6
const quickCheckMs = 10_000
const dayMs = 86_400_000
const oldPricesDays = 90

export function checkNode(): Finding {
  const { node, sqlite = 'unknown' } = process.versions
  try {
    assertSafe(sqlite)
    return ok('node', `Node ${node} with SQLite ${sqlite}`)
  } catch (error) {
    return fault('node', messageOf(error), 'a newer Node 24 brings a newer one')
  }
}

/** The folder that the database is in, and the disk below it. */
export function checkFolder(folder: string): Finding[] {
  let there = folder
  while (!existsSync(there) && dirname(there) !== there) there = dirname(there)
  const found = statSync(there)
  const user = process.geteuid?.() ?? found.uid
  const missing = there === folder ? '' : ' is not there yet, and'
  if (!found.isDirectory()) return [fault('folder', `${there} is no folder`, '--db names a file in another')]
  if (!isWritable(there)) {
    const who = found.uid === user ? `user ${user}` : `user ${user}; ${there} belongs to user ${found.uid}`
    const remedy = 'calls pass, and none is recorded: chown or chmod it, or --db names a file elsewhere'
    return [fault('folder', `${folder}${missing} cannot be written by ${who}`, remedy), checkDisk(there)]
  }
  const isOthers = missing === '' && found.uid !== user
  return [
    missing !== ''
      ? ok('folder', `${folder} is not there yet: the first start makes it`)
      : isOthers
        ? warning(
            'folder',
            `${folder} belongs to user ${found.uid}; this is user ${user}`,
            'what is made here now, that user may not read: run it as the same user',
          )
        : ok('folder', `${folder} can be written`),
    checkDisk(there),
  ]
}

function checkDisk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const message = `${bytes(free)} free`
  if (free >= plentyBytes) return ok('disk', message)
  const remedy =
    '`tokenweir db compress` makes the database smaller; --raw-log-max-mb bounds what payloads take'
  return free < leastBytes ? fault('disk', message, remedy) : warning('disk', message, remedy)
}

/** Who works on a folder's database, beside a gateway that answers for it. */
export function checkLocks(db: string, gatewayRuns: boolean): Finding {
  const folder = dirname(db)
  try {
    if (isFileLocked(jobLockPath(db))) {
      return warning('lock', 'compress, rebuild or reprice is at work on the database', 'wait for its end')
    }
    const held = globSync('instance-*.lock', { cwd: folder }).filter((name) =>
      isFileLocked(join(folder, name)),
    )
    if (held.length === 0) return ok('lock', 'nobody holds the database')
    if (gatewayRuns) return ok('lock', `${instanceHolders(held.length)} the database`)
    const remedy = 'a gateway in another container, or one that ends? It is stopped where it was started'
    return warning('lock', `${instanceHolders(held.length)} the database, and none answers here`, remedy)
  } catch (error) {
    return fault('lock', messageOf(error), `who owns ${instanceLockPath(folder, 0)}? Run it as that user`)
  }
}

function instanceHolders(held: number): string {
  return held === 1 ? 'one gateway holds' : `${held} gateways hold`
}

/** Opens the database and has SQLite look it through, in a process that is ended if that takes too long. */
export async function checkDatabase(db: string): Promise<Finding> {
  if (!existsSync(db)) return ok('database', `${db} is not there yet: the first start makes it`)
  const opened = openForReading(db)
  if (typeof opened === 'string') {
    if (opened === 'empty') return ok('database', absenceText.empty)
    const remedy = { damaged: 'keep a copy if it is dear to you', busy: 'try again' } as const
    const advice = opened === 'damaged' || opened === 'busy' ? remedy[opened] : '--db names another'
    return fault('database', `${db}: ${absenceText[opened]}`, advice)
  }
  const version = versionOf(opened)
  opened.close()
  const finding = await quickCheck(db, quickCheckMs)
  if (finding === null) {
    return warning(
      'database',
      `${db} is too large to be looked through in 10 s`,
      '`tokenweir db check` takes its time',
    )
  }
  if (finding !== '') {
    return fault('database', `${db} is damaged: ${finding}`, 'the gateway puts it aside and starts a new one')
  }
  const older =
    version < schemaVersion ? `; the next start brings its schema ${version} to ${schemaVersion}` : ''
  return ok('database', `${db} is sound${older}`)
}

export function checkPrices(db: string, nowMs: number): Finding {
  const path = priceFileOf(db)
  const reading = readPricesInForce(path)
  if ('problem' in reading) {
    const { problem } = reading
    const remedy = 'the last prices that could be read hold meanwhile: mend it, or move it away'
    return fault('prices', `${path}${placeForEditor(problem)}: ${problem.message}`, remedy)
  }
  const { costs } = reading
  if (costs === null) return fault('prices', 'no prices came with the program', 'install it anew')
  const dates = Object.values(costs.models).map(({ updated_at: date }) => date ?? '')
  const newest = costs.synced_at ?? dates.reduce((a, b) => (a > b ? a : b), '')
  const days = Math.floor((nowMs - Date.parse(newest)) / dayMs)
  const from = costs.synced_at === null ? 'came with the program' : 'are synced'
  const message = `${count(dates.length)} prices ${from}, ${Number.isNaN(days) ? 'of unknown age' : `${days} days old`}`
  return days <= oldPricesDays ? ok('prices', message) : warning('prices', message, '`tokenweir costs sync`')
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}
