import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

interface LockedPackage {
  readonly dev?: boolean
  readonly hasInstallScript?: boolean
  readonly resolved?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const installed = ['package-lock.json', 'test/package-lock.json', 'bench/rivals/package-lock.json']
/** Installed by `npm install`, as not every registry has every platform's binaries of them. */
const agents = 'test/agents/package-lock.json'

for (const path of [...installed, agents]) {
  const lock = JSON.parse(await readFile(new URL(`../../${path}`, import.meta.url), 'utf8')) as {
    readonly packages: Readonly<Record<string, LockedPackage>>
  }

  test(`${path} names no address of a registry`, () => {
    const withAddress = Object.entries(lock.packages).filter(([, locked]) => locked.resolved !== undefined)
    assert.deepEqual(withAddress, [])
  })

  if (path === agents) continue
  test(`${path} names every platform's binaries, or \`npm ci\` refuses it`, () => {
    const named = Object.values(lock.packages).flatMap((locked) =>
      Object.keys(locked.optionalDependencies ?? {}),
    )
    assert.ok(named.length > 0)
    assert.deepEqual(
      named.filter((name) => lock.packages[`node_modules/${name}`] === undefined),
      [],
    )
  })
}

test('no package that is installed with tokenweir has an install script, of which npm would warn', async () => {
  const text = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8')
  const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, LockedPackage>> }
  const installed = Object.entries(packages).filter(([path, { dev = false }]) => path !== '' && !dev)
  assert.ok(installed.length > 1)
  assert.deepEqual(
    installed.filter(([, { hasInstallScript = false }]) => hasInstallScript),
    [],
  )
})
