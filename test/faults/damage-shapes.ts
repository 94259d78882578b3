import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { DatabaseSync } from 'node:sqlite'

/**
 * What the next start has to make of a damage: go on in the same file, go on in it although a page stays damaged, begin a
 * new one, or leave it all alone.
 */
export type DamageEnd = 'goes_on' | 'stays' | 'begins_anew' | 'left_alone'

/** One way in which a database's files are not as they were left. */
export interface DamageShape {
  readonly name: string
  readonly end: DamageEnd
  /** The warning that tells of it, `null` where nothing was lost. */
  readonly code: string | null
  /** The files, by what follows the database's path, whose bytes must afterwards be found somewhere in the folder. */
  readonly keeps: readonly string[]
  /** Does it to the database at `path`, whose log lies beside it. `foreign` is another one in the same state. */
  readonly damage: (path: string, foreign: string) => void
}

const pageBytes = 4096
const whole = ['', '-wal'] as const

/** What a crashed gateway may find at its next start. Each begins with a sound file and a log that is not empty. */
export const damageShapes: readonly DamageShape[] = [
  shape('no bytes left, but a log', 'begins_anew', 'log_kept', ['-wal'], (path) => truncateSync(path, 0)),
  shape('deleted, but for the log', 'begins_anew', 'log_kept', ['-wal'], (path) => rmSync(path)),
  shape('cut after 50 bytes', 'begins_anew', 'database_damaged', whole, (path) => truncateSync(path, 50)),
  shape('cut in its first page', 'begins_anew', 'database_damaged', whole, (path) => {
    withoutLog(path)
    truncateSync(path, 1000)
  }),
  shape('cut at half its pages', 'begins_anew', 'database_damaged', whole, (path) => {
    withoutLog(path)
    truncateSync(path, Math.floor(readFileSync(path).length / pageBytes / 2) * pageBytes)
  }),
  shape('cut within its last page', 'stays', null, [], (path) => {
    withoutLog(path)
    truncateSync(path, readFileSync(path).length - 1000)
  }),
  shape('noise in one page', 'stays', null, [], (path) => {
    withoutLog(path)
    rewrite(path, (bytes) => {
      const page = Math.floor((bytes.length / pageBytes) * 0.6)
      fillNoise(bytes, page * pageBytes, pageBytes)
    })
  }),
  shape('noise in every third page', 'begins_anew', 'database_damaged', whole, (path) => {
    withoutLog(path)
    rewrite(path, (bytes) => {
      for (let page = 1; page * pageBytes < bytes.length; page += 3)
        fillNoise(bytes, page * pageBytes, pageBytes)
    })
  }),
  shape('noise in its header', 'begins_anew', 'database_damaged', whole, (path) => {
    rewrite(path, (bytes) => fillNoise(bytes, 0, 100))
    withoutLog(path)
  }),
  shape('no tables in its schema', 'begins_anew', 'database_damaged', whole, (path) => {
    withoutLog(path)
    // The header stays; the page says that it is an empty leaf.
    rewrite(path, (bytes) => {
      bytes.fill(0, 100, pageBytes)
      bytes.set([13, 0, 0, 0, 0, 0x10, 0, 0], 100)
    })
  }),
  shape('a text in its place', 'left_alone', 'database_foreign', whole, (path) => {
    writeFileSync(path, 'Somebody wrote his notes here. '.repeat(1000))
    withoutLog(path)
  }),
  shape('a log of noise', 'goes_on', null, [], (path) => {
    rewrite(`${path}-wal`, (bytes) => fillNoise(bytes, 0, bytes.length))
  }),
  shape('a log with a flipped bit in its middle', 'goes_on', null, [], (path) => {
    rewrite(`${path}-wal`, (bytes) => {
      const middle = Math.floor(bytes.length / 2)
      bytes[middle] = bytes[middle]! ^ 1
    })
  }),
  shape('a log that is torn at its end', 'goes_on', null, [], (path) => {
    truncateSync(`${path}-wal`, readFileSync(`${path}-wal`).length - 500)
  }),
  shape(
    'the log of another database, cut short',
    'begins_anew',
    'database_damaged',
    whole,
    (path, foreign) => {
      const log = readFileSync(`${foreign}-wal`)
      withoutLog(path)
      truncateSync(path, 3 * pageBytes)
      writeFileSync(`${path}-wal`, log)
    },
  ),
  shape('an index of the log that is noise', 'goes_on', null, [], (path) => {
    const bytes = Buffer.alloc(32_768)
    fillNoise(bytes, 0, bytes.length)
    writeFileSync(`${path}-shm`, bytes)
  }),
  shape("another program's database", 'left_alone', 'database_foreign', whole, (path) => {
    withPragma(path, 'application_id = 1')
    chmodSync(path, 0o644)
  }),
  shape('another schema', 'left_alone', 'database_other_version', whole, (path) => {
    withPragma(path, 'user_version = 99')
  }),
  shape('a folder in its place', 'left_alone', 'database_unavailable', ['-wal'], (path) => {
    rmSync(path)
    mkdirSync(path)
  }),
]

/** The files of one database under the names of another, as a crash would have left them: without the log's index. */
export function copyCrashed(from: string, to: string): void {
  for (const suffix of whole) copyFileSync(from + suffix, to + suffix)
}

function shape(
  name: string,
  end: DamageEnd,
  code: string | null,
  keeps: readonly string[],
  damage: DamageShape['damage'],
): DamageShape {
  return { name, end, code, keeps, damage }
}

/** Only the file is left, so that its damage is what there is to read. */
function withoutLog(path: string): void {
  rmSync(`${path}-wal`, { force: true })
}

function withPragma(path: string, pragma: string): void {
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA ${pragma}`)
  database.close()
}

function rewrite(path: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(path)
  change(bytes)
  writeFileSync(path, bytes)
}

/** The same noise each time. */
function fillNoise(bytes: Buffer, from: number, length: number): void {
  let state = 0x9e3779b9
  for (let at = from; at < Math.min(bytes.length, from + length); at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    bytes[at] = state >>> 24
  }
}
