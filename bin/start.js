import { existsSync } from 'node:fs'

/** A clone runs its source, an installed package what was built from it. */
const source = new URL('../src/cli/main.ts', import.meta.url)
const built = new URL('../dist/cli/main.js', import.meta.url)
const { main } = await import(existsSync(source) === true ? source.href : built.href)

await main(process.argv.slice(2), process.env)
