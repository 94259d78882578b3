import { closeSync, constants, openSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'

/** The control socket's name in a data folder. */
export const socketName = 'gateway.sock'

/** A path to a socket, valid until disposed. Connections stay open. */
export interface SocketAddress extends Disposable {
  readonly path: string
}

/**
 * The address of a socket in a folder, even if the folder's path is longer than the about 100 bytes of a socket's
 * address. Throws an error for people, or the system's error if the folder cannot be opened.
 */
export function openSocketAddress(folder: string, name: string = socketName): SocketAddress {
  const path = shortPath(join(resolve(folder), name), process.cwd(), process.platform)
  if (path !== null) return { path, [Symbol.dispose]: () => {} }
  if (process.platform !== 'linux') {
    throw new Error(`the path of ${folder} is too long for a socket, and no name for it is shorter`)
  }
  const descriptor = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY)
  return {
    path: `/proc/self/fd/${descriptor}/${name}`,
    [Symbol.dispose]: () => closeSync(descriptor),
  }
}

/** The shorter of an absolute path and its path from the working directory; `null` if neither fits into an address. */
export function shortPath(absolute: string, cwd: string, platform: NodeJS.Platform): string | null {
  const local = relative(cwd, absolute)
  const shorter = Buffer.byteLength(local) < Buffer.byteLength(absolute) ? local : absolute
  return Buffer.byteLength(shorter) <= longestAddress(platform) ? shorter : null
}

/** Most bytes of a socket's address: `sun_path` without its final NUL. unix(7) for Linux; BSDs and macOS have fewer. */
function longestAddress(platform: NodeJS.Platform): number {
  return platform === 'linux' ? 107 : 103
}
