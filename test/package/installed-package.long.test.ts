import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, readdir, stat, symlink } from 'node:fs/promises'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { startSimulatedUpstream } from '../support/simulated-upstream.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { startUpProcess } from '../support/up-process.ts'

const run = promisify(execFile)
const repository = fileURLToPath(new URL('../..', import.meta.url))

/** Of the package with all that it needs. */
const mostBytes = 25e6

/** What is packed, and what it is built from. */
const packedParts =
  'bin build docs ops src ui CHANGELOG.md CONTRIBUTING.md LICENSE README.md package.json tsconfig.json tsconfig.build.json'.split(
    ' ',
  )

/** Packs a copy of the tree: packing builds anew, and other tests use what is built here. Gives the tarball's path. */
async function pack(folder: string): Promise<string> {
  const tree = `${folder}/tree`
  for (const part of packedParts) await cp(`${repository}/${part}`, `${tree}/${part}`, { recursive: true })
  await symlink(`${repository}/node_modules`, `${tree}/node_modules`)
  await run('npm', ['pack', '--pack-destination', folder], { cwd: tree })
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz'))
  assert.ok(tarball !== undefined)
  return `${folder}/${tarball}`
}

/** As npm would install a packed package in an empty folder, but without a registry or a cache. */
async function install(tarball: string, folder: string): Promise<void> {
  const lock = JSON.parse(await readFile(`${repository}/package-lock.json`, 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly devOptional?: boolean }>>
  }
  for (const [path, { dev = false, devOptional = false }] of Object.entries(lock.packages)) {
    // The compiler is an optional peer of a package: npm installs it for nobody who does not ask for it.
    const isCompiler = devOptional || path.startsWith('node_modules/@typescript/')
    if (path !== '' && !dev && !isCompiler)
      await cp(`${repository}/${path}`, `${folder}/${path}`, { recursive: true })
  }
  const target = `${folder}/node_modules/tokenweir`
  await mkdir(target)
  await run('tar', ['-xzf', tarball, '-C', target, '--strip-components=1'])
}

test('the packed package, installed in an empty folder, forwards and records a call, and shows its page', async () => {
  await using packed = await makeTempDir()
  await using folder = await makeTempDir()
  await install(await pack(packed.path), folder.path)
  const installed = folder.file('node_modules/tokenweir')
  const files = await readdir(installed, { recursive: true })
  assert.deepEqual(
    files.filter((file) => file.endsWith('.ts') || /(^|\/)test\/|\.test\./.test(file)),
    [],
  )

  for (const file of ['index.html', 'sign-in.html']) assert.ok(files.includes(`dist/ui/${file}`), file)
  for (const file of ['model_costs.json', 'model_costs.LICENSE', 'openapi.json', 'openapi-gateway.json'])
    assert.ok(files.includes(`dist/${file}`), file)
  for (const file of ['prometheus/alerts.yml', 'grafana/tokenweir.json'])
    assert.ok(files.includes(`ops/${file}`), file)
  assert.ok(files.some((file) => /^dist\/ui\/assets\/index-[\w-]+\.js\.br$/.test(file)))

  const all = await readdir(folder.path, { recursive: true, withFileTypes: true })
  const sizes = all
    .filter((entry) => entry.isFile())
    .map((entry) => stat(`${entry.parentPath}/${entry.name}`).then(({ size }) => size))
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  assert.ok(bytes <= mostBytes, `${bytes} bytes are installed`)

  await using upstream = await startSimulatedUpstream()
  const command = `${installed}/bin/tokenweir.js`
  await using gateway = await startGatewayProcess({
    upstream: upstream.baseUrl,
    directory: folder.path,
    command,
  })
  await gateway.waitForOutput(/calls are recorded/)
  const metrics = await fetch(`${gateway.origin}/metrics`)
  assert.match(await metrics.text(), /^tokenweir_build_info\{/m)
  const answer = await fetch(`${gateway.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'packed-model', messages: [] }),
  })
  assert.equal(answer.status, 200)
  await answer.arrayBuffer()
  assert.deepEqual(await gateway.stop(), { code: 0, signal: null })

  const { stdout } = await run(process.execPath, [command, 'calls', '--db', gateway.databaseFile])
  assert.match(stdout, /packed-model/)

  // Its SDK is built in: no package of it is installed.
  const agent = new Client({ name: 'test', version: '1' })
  const args = [command, 'mcp', '--db', gateway.databaseFile]
  await agent.connect(new StdioClientTransport({ command: process.execPath, args, cwd: folder.path }))
  const told = await agent.callTool({ name: 'usage_summary', arguments: { period: '24h' } })
  assert.match(JSON.stringify(told.content), /packed-model/)
  await agent.close()

  await using up = await startUpProcess({ directory: folder.path, args: [], file: command })
  const page = await (await fetch(up.dashboard)).text()
  const parts = [...page.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path)
  assert.ok(parts.length > 1)
  for (const path of parts) assert.equal((await fetch(up.dashboard + path)).status, 200, path)
  const status = await (await fetch(`${up.dashboard}/api/proxy/status`)).json()
  assert.equal((status as { state: string }).state, 'running')
  const asked = await fetch(`${up.dashboard}/api/query`)
  assert.equal(asked.status, 200)
  const found = (await asked.json()) as { readonly calls: readonly unknown[] }
  assert.deepEqual(found.calls, [], 'the process that reads is in the package')
  assert.deepEqual(await up.command.stop('SIGINT'), { code: 0, signal: null })
})
