import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { type Plugin, build } from 'vite'
import { makeTempDir } from '../support/temp-dir.ts'

const types: Readonly<Record<string, string>> = { html: 'text/html', js: 'text/javascript', css: 'text/css' }

/** What Preact calls before each render of a component. */
const counting = `import { Fragment, options } from 'preact'
const before = options.__r
globalThis.rendered = []
options.__r = (vnode) => {
  if (vnode.type !== Fragment) globalThis.rendered.push(vnode.type.name)
  before?.(vnode)
}
`

function counter(): Plugin {
  return {
    name: 'count-renders',
    enforce: 'pre',
    transform: (code, id) => (id.endsWith('/main.tsx') ? counting + code : null),
  }
}

/** The page as it is served, but that it notes the name of each component that it renders. */
export interface CountedPage extends AsyncDisposable {
  /** Serves it to this page in place of the dashboard's. */
  readonly serveTo: (page: Page) => Promise<void>
}

export async function buildCountedPage(): Promise<CountedPage> {
  const dir = await makeTempDir()
  await build({
    configFile: fileURLToPath(new URL('../../ui/vite.config.ts', import.meta.url)),
    logLevel: 'silent',
    plugins: [counter()],
    build: { outDir: dir.path, minify: false },
  })
  return {
    serveTo: async (page) => {
      await page.route(/^[^?/]*\/\/[^?/]*\/(?:sessions|assets\/[^?]+)?(?:\?.*)?$/, async (route) => {
        const { pathname } = new URL(route.request().url())
        const name = pathname.startsWith('/assets/') ? pathname : 'index.html'
        const ending = name.slice(name.lastIndexOf('.') + 1)
        const contentType = types[ending] ?? 'image/svg+xml'
        await route.fulfill({ body: await readFile(join(dir.path, name)), contentType })
      })
    },
    [Symbol.asyncDispose]: () => dir[Symbol.asyncDispose](),
  }
}

/** The components that were rendered since the last time, by name, with how often. */
export async function takeRenders(page: Page): Promise<Readonly<Record<string, number>>> {
  const names = await page.evaluate<string[]>('rendered.splice(0)')
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}
