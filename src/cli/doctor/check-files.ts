import { existsSync, globSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isWritable } from '../../control/control-folder.ts'
import { messageOf } from '../../lib/errors.ts'
import { isFileLocked } from '../../lib/files/file-lock.ts'
import { type RightsFlaw, userName } from '../../lib/files/file-rights.ts'
import { placeForEditor, priceFileOf, readPricesInForce } from '../../pricing/price-file.ts'
import { absenceText, assertSqliteVersion, openForReading } from '../../store/sqlite/open-store.ts'
import { jobLockPath } from '../../store/sqlite/store-files.ts'
import { folderFlaw } from '../folder-rights.ts'
import { bytes, count, counted } from '../terminal/figures.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

/** A database and payloads of a day of calls fit in the first; below the second SQLite soon cannot write. */
const plentyBytes = 1e9
const leastBytes = 100e6
const dayMs = 86_400_000
const oldPricesDays = 90

export function checkNode(): Finding {
  const { node, sqlite = 'unknown' } = process.versions
  try {
    assertSqliteVersion(sqlite)
    return ok('node', `Node ${node} with SQLite ${sqlite}`)
  } catch (error) {
    return fault('node', messageOf(error), 'a newer Node 24 brings a newer one')
  }
}

/** The folder that the database is in, and the disk below it. */
export function checkFolder(folder: string): Finding[] {
  let there = folder
  while (!existsSync(there)) there = dirname(there)
  return [folderFinding(folder, there), checkDisk(there)]
}

/** Instead of all that is in a folder which this user may not read. */
export function unseenFolder({ path, what, remedy }: RightsFlaw): Finding {
  const message = `${path} ${what}: settings, locks, database, prices and upstreams could not be looked at`
  return fault('folder', message, remedy)
}

/** `there` is the folder, or what there is of the way to it. */
function folderFinding(folder: string, there: string): Finding {
  const { uid: owner } = statSync(there)
  const user = process.geteuid?.() ?? owner
  if (!isWritable(there)) {
    const message = `${folder} cannot be written by ${userName(user)}; ${there} belongs to ${userName(owner)}`
    const remedy = 'calls pass, and none is recorded: chown or chmod it, or --db names a file elsewhere'
    return fault('folder', message, remedy)
  }
  const flaw = folderFlaw(folder)
  if (flaw !== null) return fault('folder', `${flaw.path} ${flaw.what}`, flaw.remedy)
  if (there !== folder) return ok('folder', `${folder} is not there yet: the first start makes it`)
  const message = `${folder} can be written by ${userName(user)}`
  if (user === owner) return ok('folder', message)
  return warning(
    'folder',
    `${message}; it belongs to ${userName(owner)}`,
    'who of them runs it? Both will not get on',
  )
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

/** Processes that use a folder's database, beside its gateway. */
export function checkLocks(db: string, gatewayRuns: boolean): Finding {
  const folder = dirname(db)
  try {
    if (isFileLocked(jobLockPath(db))) {
      return warning('lock', 'compress, rebuild or reprice is at work on the database', 'wait for its end')
    }
    const locks = globSync('instance-*.lock', { cwd: folder })
    const held = locks.filter((name) => isFileLocked(join(folder, name))).length
    const message =
      held === 0 ? 'nobody holds the database' : `the database is held by ${counted(held, 'gateway')}`
    if (held === 0 || gatewayRuns) return ok('lock', message)
    return warning(
      'lock',
      `${message}, and none answers here`,
      'look for it in other containers, or wait for its end',
    )
  } catch (error) {
    return fault('lock', messageOf(error), 'run it as the user who owns that file')
  }
}

/** Opens the database. Pages that nothing needs at once are for `db check` to look at. */
export function checkDatabase(db: string): Finding {
  if (!existsSync(db)) return ok('database', `${db} is not there yet: the first start makes it`)
  const opened = openForReading(db)
  if (opened === 'empty') return ok('database', absenceText.empty)
  if (typeof opened === 'string') {
    const remedy = opened === 'damaged' ? 'keep a copy if it is dear to you' : '--db names another'
    return fault('database', `${db}: ${absenceText[opened]}`, opened === 'busy' ? 'try again' : remedy)
  }
  opened.close()
  return ok('database', `${db} can be read; \`tokenweir db check\` looks at every page of it`)
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
