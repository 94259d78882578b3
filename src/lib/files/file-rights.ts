import {
  accessSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  statfsSync,
  type Stats,
} from 'node:fs'
import { dirname, isAbsolute, join, sep } from 'node:path'
import { codeOf } from '../errors.ts'

/** Why a file or folder cannot be relied on, and the command that mends it. */
export interface RightsFlaw {
  readonly path: string
  /** Completes "/srv/data …". */
  readonly what: string
  readonly remedy: string
}

/** Linux follows no more symbolic links than this in one path. */
const mostLinks = 40
const writableByAnyone = 0o002
const sticky = 0o1000

/** File systems that keep no rights, and show every file as writable: vfat, exfat, ntfs, ntfs3, 9p (WSL), FUSE. */
const withoutRights: ReadonlySet<number> = new Set([
  0x4d44, 0x2011bab0, 0x5346544e, 0x7366746e, 0x01021997, 0x65735546,
])

/**
 * Says why others can change what is at a path, or null. The path itself must belong to this user or root, and not be
 * writable by anyone. The folders above it, and links on the way, must not let others replace it. A path that is not
 * there yet is judged by the folders above it.
 */
export function rightsFlaw(path: string): RightsFlaw | null {
  for (const { path: place, stats, isLast } of placesOn(path)) {
    const flaw =
      isLast || stats.isSymbolicLink()
        ? flawOf(stats, place)
        : isOpenToAll(stats, place) && (stats.mode & sticky) === 0
          ? openFlaw(place)
          : null
    if (flaw !== null) return flaw
  }
  return null
}

/** Says why an open file, or one of these attributes, cannot be relied on; null if it can. */
export function flawOf(stats: Stats, path: string): RightsFlaw | null {
  if (process.geteuid === undefined) return null
  if (!trustedOwners(process.geteuid()).includes(stats.uid)) {
    const what = `belongs to ${userName(stats.uid)}`
    return {
      path,
      what,
      remedy: `make it yours: chown ${stats.isDirectory() ? '-R ' : ''}${ownName()} ${path}`,
    }
  }
  return isOpenToAll(stats, path) ? openFlaw(path) : null
}

/**
 * Opens a file to write it, made private if it is new. Never follows a symbolic link in the file's place, and takes no
 * file that is another user's. Throws the system's error, or one in words.
 */
export function openOwnFile(path: string, flags: number): number {
  const { O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  let file: number
  try {
    file = openSync(path, flags | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600)
  } catch (error) {
    if (codeOf(error) !== 'ELOOP') throw error
    throw new Error(`${path} is a symbolic link, which is not followed: remove it`, { cause: error })
  }
  try {
    const stats = fstatSync(file)
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`)
    const flaw = flawOf(stats, path)
    if (flaw !== null) throw new Error(flawText(flaw))
    return file
  } catch (error) {
    closeSync(file)
    throw error
  }
}

/** `/srv/data belongs to alice (user 1001): make it yours: …` */
export function flawText({ path, what, remedy }: RightsFlaw): string {
  return `${path} ${what}; ${remedy}`
}

/** `alice (user 1001)`; the number alone where no list has the name. */
export function userName(id: number): string {
  if (id === 0) return 'root'
  const name = nameIn('/etc/passwd', id)
  return name === null ? `user ${id}` : `${name} (user ${id})`
}

function nameIn(list: string, id: number): string | null {
  try {
    const lines = readFileSync(list, 'utf8').split('\n')
    return lines.map((line) => line.split(':')).find(([, , number]) => number === String(id))?.[0] ?? null
  } catch {
    return null
  }
}

/** This user, root, and the user who became root by sudo. */
function trustedOwners(userId: number): readonly number[] {
  const { SUDO_UID: caller = '' } = process.env
  return userId === 0 && /^\d+$/.test(caller) ? [0, Number(caller)] : [0, userId]
}

function ownName(): string {
  const userId = process.geteuid?.() ?? 0
  return userId === 0 ? 'root' : (nameIn('/etc/passwd', userId) ?? String(userId))
}

function isOpenToAll(stats: Stats, path: string): boolean {
  // Anyone may write to a device such as /dev/null; opening the path refuses what is no regular file.
  if (!(stats.isFile() || stats.isDirectory()) || (stats.mode & writableByAnyone) === 0) return false
  return !withoutRights.has(statfsSync(path).type)
}

function openFlaw(path: string): RightsFlaw {
  return { path, what: 'can be written by anyone', remedy: `take that right away: chmod o-w ${path}` }
}

interface Place {
  readonly path: string
  readonly stats: Stats
  /** True if the path ends here. */
  readonly isLast: boolean
}

/** A folder on the way, or the path itself, that this user may not read. */
export function unreadable(path: string): RightsFlaw | null {
  for (const { path: place, stats, isLast } of placesOn(path)) {
    if (stats.isSymbolicLink()) continue
    const wanted = (isLast ? constants.R_OK : 0) | (stats.isDirectory() ? constants.X_OK : 0)
    try {
      accessSync(place, wanted)
    } catch {
      const what = `belongs to ${userName(stats.uid)}, and ${userName(process.geteuid?.() ?? 0)} may not read it`
      const whole = stats.isDirectory() ? place : dirname(place)
      const remedy = `run this with sudo, or make it yours: sudo chown -R ${ownName()} ${whole}`
      return { path: place, what, remedy }
    }
  }
  return null
}

/** Each entry that the system passes on the way to a path, from the root on, with links as links. */
function* placesOn(path: string): Generator<Place> {
  if (process.geteuid === undefined) return
  const left = namesIn(isAbsolute(path) ? path : `${process.cwd()}${sep}${path}`)
  let at: string = sep
  yield { path: at, stats: lstatSync(at), isLast: left.length === 0 }
  for (let links = 0, name = left.shift(); name !== undefined && links < mostLinks; name = left.shift()) {
    const next = name === '..' ? dirname(at) : join(at, name)
    const stats = statsOf(next)
    if (stats === null) return
    if (stats.isSymbolicLink()) {
      yield { path: next, stats, isLast: false }
      const target = readlinkSync(next)
      left.unshift(...namesIn(target))
      if (isAbsolute(target)) at = sep
      links++
    } else {
      at = next
      yield { path: at, stats, isLast: left.length === 0 }
    }
  }
}

function namesIn(path: string): string[] {
  return path.split(sep).filter((name) => name !== '' && name !== '.')
}

/** The entry's stats; null if it does not exist or cannot be read. */
function statsOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return null
  }
}
