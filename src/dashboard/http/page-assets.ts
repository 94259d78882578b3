import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The paths of the page's views. All get the same file, which reads its view from the address. */
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
  /** The content compressed by the build; undefined if that saves nothing. */
  readonly br: Buffer | undefined
  readonly gzip: Buffer | undefined
}

/** The files of the page by name, in memory, so that no request reads a file from the disk. */
export type PageAssets = ReadonlyMap<string, Asset>

/** Reads the folder of the page once, without files of other kinds; empty if the folder is missing. */
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

/** The names of a page's files: those that it mentions, and those that these mention. */
export function partsOf(assets: PageAssets, page: string): ReadonlySet<string> {
  const names = new Set([page])
  // The iteration also visits names that are added during it.
  for (const name of names) {
    const text = assets.get(name)?.content.toString('utf8') ?? ''
    for (const [, mentioned = ''] of text.matchAll(/["'`](?:\/|\.\/)((?:assets\/)?[\w.-]+)["'`]/g)) {
      for (const part of [mentioned, `assets/${mentioned}`]) if (assets.has(part)) names.add(part)
    }
  }
  return names
}
