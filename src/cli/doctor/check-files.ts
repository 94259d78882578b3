import { existsSync, globSync, statfsSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { messageOf } from '../../lib/errors.ts'
import { isFileLocked } from '../../lib/files/file-lock.ts'
import { isWritable, type RightsFlaw, userName } from '../../lib/files/file-rights.ts'
import { placeInFile, priceFileOf, readPricesInForce } from '../../pricing/price-file.ts'
import { absenceText, assertSqliteVersion, openForReading } from '../../store/sqlite/open-store.ts'
import { jobLockPath } from '../../store/sqlite/store-files.ts'
import { folderFlaw } from '../folder-rights.ts'
import { bytes, count, counted } from '../../lib/number-format.ts'
import { type Finding, fault, ok, warning } from './finding.ts'

/**
 * Free bytes on the disk: with the first, database and payloads of a day fit; below the second, SQLite soon
 * cannot write.
 */
const plentyBytes = 1e9
const leastBytes = 100e6
const dayMs = 86_400_000
const oldPricesDays = 90

/** The finding for the versions of Node and its SQLite. */
export function checkNode(): Finding {
  const { node, sqlite = 'unknown' } = process.versions
  try {
    assertSqliteVersion(sqlite)
    return ok('node', `Node ${node} with SQLite ${sqlite}`)
  } catch (error) {
    return fault('node', messageOf(error), 'update to a newer Node 24')
  }
}

/** The folder that the database is in, and the disk below it. */
export function checkFolder(folder: string): Finding[] {
  let there = folder
  while (!existsSync(there)) there = dirname(there)
  return [folderFinding(folder, there), checkDisk(there)]
}

/** The finding for a folder that this user may not read; nothing in the folder can be checked then. */
export function unseenFolder({ path, what, remedy }: RightsFlaw): Finding {
  const message = `${path} ${what}: could not check settings, locks, database, prices and upstreams`
  return fault('folder', message, remedy)
}

/** The finding for a data folder; `there` is the folder, or its nearest existing parent. */
function folderFinding(folder: string, there: string): Finding {
  const { uid: owner } = statSync(there)
  const user = process.geteuid?.() ?? owner
  if (!isWritable(there)) {
    const message = `${folder} cannot be written by ${userName(user)}; ${there} belongs to ${userName(owner)}`
    const remedy = 'calls are forwarded but not recorded: chown or chmod it, or use --db for a file elsewhere'
    return fault('folder', message, remedy)
  }
  const flaw = folderFlaw(folder)
  if (flaw !== null) return fault('folder', `${flaw.path} ${flaw.what}`, flaw.remedy)
  if (there !== folder) return ok('folder', `${folder} does not exist yet: the first start creates it`)
  const message = `${folder} can be written by ${userName(user)}`
  if (user === owner) return ok('folder', message)
  return warning(
    'folder',
    `${message}; it belongs to ${userName(owner)}`,
    'run tokenweir as one user: two cannot share a folder',
  )
}

function checkDisk(folder: string): Finding {
  const { bavail, bsize } = statfsSync(folder)
  const free = bavail * bsize
  const message = `${bytes(free)} free`
  if (free >= plentyBytes) return ok('disk', message)
  const remedy = 'shrink the database with `tokenweir db compress`, or limit payloads with --raw-log-max-mb'
  return free < leastBytes ? fault('disk', message, remedy) : warning('disk', message, remedy)
}

/** The finding for processes that use a folder's database, beside its gateway. */
export function checkLocks(db: string, gatewayRuns: boolean): Finding {
  const folder = dirname(db)
  try {
    if (isFileLocked(jobLockPath(db))) {
      return warning('lock', 'compress, rebuild or reprice is running on the database', 'wait until it ends')
    }
    const locks = globSync('instance-*.lock', { cwd: folder })
    const lockCount = locks.filter((name) => isFileLocked(join(folder, name))).length
    const message =
      lockCount === 0
        ? 'no gateway has the database open'
        : `the database is in use by ${counted(lockCount, 'gateway')}`
    if (lockCount === 0 || gatewayRuns) return ok('lock', message)
    return warning(
      'lock',
      `${message}, and none answers here`,
      'look for it in other containers, or wait until it ends',
    )
  } catch (error) {
    return fault('lock', messageOf(error), 'run it as the user who owns that file')
  }
}

/** Opens the database. Only `db check` reads all of its pages. */
export function checkDatabase(db: string): Finding {
  if (!existsSync(db)) return ok('database', `${db} does not exist yet: the first start creates it`)
  const opened = openForReading(db)
  if (opened === 'empty') return ok('database', absenceText.empty)
  if (typeof opened === 'string') {
    const remedy = opened === 'damaged' ? 'back it up if you need it' : 'use --db for another file'
    return fault('database', `${db}: ${absenceText[opened]}`, opened === 'busy' ? 'try again' : remedy)
  }
  opened.close()
  return ok('database', `${db} is readable; check all of it with \`tokenweir db check\``)
}

/** The finding for the price file: its age, or its fault. `nowMs` is in ms since the Unix epoch. */
export function checkPrices(db: string, nowMs: number): Finding {
  const path = priceFileOf(db)
  const reading = readPricesInForce(path)
  if ('problem' in reading) {
    const { problem } = reading
    const remedy = 'the last valid prices stay in force: fix it, or move it away'
    return fault('prices', `${path}${placeInFile(problem)}: ${problem.message}`, remedy)
  }
  const { costs } = reading
  if (costs === null) return fault('prices', 'the shipped prices are missing', 'reinstall tokenweir')
  const dates = Object.values(costs.models).map(({ updated_at: date }) => date ?? '')
  const newest = costs.synced_at ?? dates.reduce((a, b) => (a > b ? a : b), '')
  const days = Math.floor((nowMs - Date.parse(newest)) / dayMs)
  const from = costs.synced_at === null ? 'shipped with tokenweir' : 'synced'
  const message = `${count(dates.length)} prices ${from}, ${Number.isNaN(days) ? 'of unknown age' : `${days} days old`}`
  return days <= oldPricesDays ? ok('prices', message) : warning('prices', message, '`tokenweir costs sync`')
}
