import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { commands } from '../../src/cli/main.ts'
import * as env from '../../src/cli/commands/env.ts'
import * as servicePrint from '../../src/cli/commands/service-print.ts'
import { helpOf } from '../../src/cli/help.ts'
import { startLines } from '../../src/cli/terminal/start-lines.ts'
import { FakeTerminal } from '../support/fake-terminal.ts'
import { given } from '../support/given.ts'

const repository = fileURLToPath(new URL('../..', import.meta.url))
const own = fileURLToPath(import.meta.url)

/** What runs or installs a package by its name. */
const fetchers =
  /\b(?:npx|pnpx|bunx|(?:npm|pnpm|yarn|bun)["',\s]+(?:i|in|install|add|create|exec|init|x|dlx|global|link|update)|-p|--package)(?![\w-])/g
/** The package's name as a word of its own, and no file, folder or command beside it. */
const name = /(?:^|[\s"'`=])tokenweir(?:@[\w.^~-]+)?(?=[\s"'`,\])]|$)/
/** How far behind the fetcher the name may stand: further options, or the next line of a settings file. */
const reach = 80

/** The places of a text that would have a reader fetch the package by its name. */
function fetchesIn(text: string): readonly string[] {
  return [...text.matchAll(fetchers)]
    .map(
      ({ 0: { length }, index }) =>
        text.slice(index, index + length + reach).split(/\n\s*\n|;|&&|\|/)[0] ?? '',
    )
    .filter((place) => name.test(place))
}

const n = 'npx'
const p = 'tokenweir'

test('each way to fetch a package by its name is found, and nothing else', () => {
  const wrong = [
    `${n} ${p} up`,
    `${n} -y ${p}@latest mcp`,
    `${n} --loglevel=error -p node@24 -p ${p} ${p}`,
    `npm install --global ${p}`,
    `npm i -g ${p}`,
    `pnpm dlx ${p}`,
    `bunx ${p}`,
    `npm exec -- ${p}`,
    `command = "${n}"\nargs = ["-y", "${p}", "mcp"]`,
    `{ "command": "${n}", "args": ["-y", "${p}", "mcp"] }`,
    `eval "$(${n} ${p} env codex)"`,
  ]
  for (const text of wrong) assert.notDeepEqual(fetchesIn(text), [], text)
  const right = [
    `npm pack && npm install --global ./${p}-*.tgz`,
    `node bin/${p}.js demo`,
    `${p} up`,
    `${n} openapi-typescript http://localhost:9118/openapi.json -o ${p}.ts`,
    `npm ci && npm start`,
    `claude mcp add ${p} -- ${p} mcp`,
  ]
  for (const text of right) assert.deepEqual(fetchesIn(text), [], text)
})

test('no text of the tree has its reader fetch the package by its name', () => {
  const exclude = ['**/node_modules/**', 'dist/**', 'bench/results/**', '.git/**', 'data/**', 'logger/**']
  const files = globSync('**/*.{md,ts,tsx,js,json,yml,yaml,sh,html,css}', { cwd: repository, exclude })
  const all = [...files, 'ops/Dockerfile', '.ci/run']
  assert.ok(all.length > 1000)
  const found = all
    .filter((file) => `${repository}${file}` !== own && !file.endsWith('package-lock.json'))
    .flatMap((file) =>
      fetchesIn(readFileSync(`${repository}${file}`, 'utf8')).map((place) => `${file}: ${place}`),
    )
  assert.deepEqual(found, [])
})

test('nor does anything that the program prints', async () => {
  const printed: (readonly [name: string, text: string])[] = []
  for (const [name, [description, load]] of Object.entries(commands)) {
    const { table, positional, example } = await load()
    printed.push([
      name,
      helpOf({ name, description, options: table, positional, example }).helpInformation() + example,
    ])
  }
  for (const client of ['claude', 'codex', 'opencode', 'aider', 'openai', 'qwen', 'pi', 'continue']) {
    const terminal = new FakeTerminal({ isWatched: true })
    assert.equal(await env.run(...given(env, [client, '--model', 'm'], terminal)), 0)
    printed.push([`env ${client}`, terminal.out + terminal.err])
  }
  const terminal = new FakeTerminal()
  const [options, context] = given(servicePrint, [], terminal)
  await servicePrint.run(options, context)
  printed.push(['service print', terminal.out])
  printed.push(['gateway', startLines(options, 9090, false, null).join('\n')])
  for (const [name, text] of printed) {
    assert.ok(text.length > 0, name)
    assert.deepEqual(fetchesIn(text), [], name)
  }
})
