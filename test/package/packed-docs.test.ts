import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const repository = fileURLToPath(new URL('../..', import.meta.url))

test('each link and picture of a page in the package leads to a file of the package', async () => {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { stdout } = await promisify(execFile)('npm', args, { cwd: repository })
  const [packed] = JSON.parse(stdout) as readonly { readonly files: readonly { readonly path: string }[] }[]
  const files = new Set(packed?.files.map(({ path }) => path))
  const pages = [...files].filter((file) => file.endsWith('.md'))
  assert.ok(pages.includes('README.md') && pages.includes('docs/install.md'))
  const broken = pages.flatMap((page) => {
    const text = readFileSync(join(repository, page), 'utf8')
    const links = text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)|\b(?:src|srcset)="([^"]+)"/g)
    return [...links]
      .map(([, link, picture]) => link ?? picture ?? '')
      .filter((link) => !/^https?:/.test(link) && !files.has(join(dirname(page), link)))
      .map((link) => `${page} leads to ${link}`)
  })
  assert.deepEqual(broken, [])
})
