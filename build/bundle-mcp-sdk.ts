// Puts the SDK of the Model Context Protocol, and what it imports, into the one built file that imports it: installed as
// packages they would be 17 MB, of which 0.4 are needed (docs/internals/decisions/01-dependencies.md).
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))
const outDir = `${root}dist/mcp`
await build({
  root,
  configFile: false,
  publicDir: false,
  logLevel: 'warn',
  ssr: { noExternal: true, target: 'node' },
  build: {
    ssr: `${root}src/mcp/mcp-sdk.ts`,
    outDir,
    emptyOutDir: false,
    minify: true,
    target: 'node24',
    rolldownOptions: { output: { entryFileNames: 'mcp-sdk.js', codeSplitting: false } },
  },
})
// Their licences go with it.
const packages = ['@modelcontextprotocol/server', '@modelcontextprotocol/core', 'zod']
const licences = packages.map(
  (name) => `${name}\n\n${readFileSync(`${root}node_modules/${name}/LICENSE`, 'utf8')}`,
)
writeFileSync(`${outDir}/mcp-sdk.LICENSE`, licences.join('\n\n'))
