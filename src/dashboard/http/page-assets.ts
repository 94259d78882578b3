import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The paths of the page's views: the same file, which reads from its address what to show. */
export const pagePaths: readonly string[] = [
  '/',
  '/compare',
  '/calls',
  '/sessions',
  '/live',
  '/costs',
  '/gateway',
  '/alerts',
  '/settings',
]

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** A file of the page. */
export interface Asset {
  readonly contentType: string
  /** The content's entity tag, the same in every coding. */
  readonly tag: string
  readonly content: Buffer
  /** The same, as the build has packed it; absent if that would save nothing. */
  readonly br: Buffer | undefined
  readonly gzip: Buffer | undefined
}

/** The files of the page by their names, held in memory: no request ever names a file of the disk. */
export type PageAssets = ReadonlyMap<string, Asset>

/** Reads the folder once; files of kinds that no page needs are left out. There are none if it is missing. */
export function readPage(folder: URL): PageAssets {
  const root = fileURLToPath(folder)
  const files = new Map<string, Buffer>()
  for (const entry of globSync('**/*', { cwd: root, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    files.set(relative(root, path).replaceAll(sep, '/'), readFileSync(path))
  }
  const assets = new Map<string, Asset>()
  for (const [name, content] of files) {
    const contentType = contentTypes[extname(name)]
    if (contentType === undefined) continue
    const tag = createHash('sha256').update(content).digest('base64url').slice(0, 22)
    assets.set(name, {
      contentType,
      tag,
      content,
      br: files.get(`${name}.br`),
      gzip: files.get(`${name}.gz`),
    })
  }
  return assets
}

/** The files of a page: those that it names, and those that these name. */
export function partsOf(assets: PageAssets, page: string): ReadonlySet<string> {
  const names = new Set([page])
  // Iterating a set includes members that are added meanwhile.
  for (const name of names) {
    const text = assets.get(name)?.content.toString('utf8') ?? ''
    for (const [, mentioned = ''] of text.matchAll(/["'`](?:\/|\.\/)((?:assets\/)?[\w.-]+)["'`]/g)) {
      for (const part of [mentioned, `assets/${mentioned}`]) if (assets.has(part)) names.add(part)
    }
  }
  return names
}
