import { createHash } from 'node:crypto'
import { fileURLToPath } from 'node:url'
import { type Plugin, type UserConfig, defineConfig } from 'vite'

const fileHere = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Modules of the page that a file by itself has other ones for. */
const others: Readonly<Record<string, string>> = {
  [fileHere('data/navigation.tsx')]: fileHere('report/still-navigation.tsx'),
  [fileHere('design/popover.tsx')]: fileHere('report/no-popover.tsx'),
}

function swapped(): Plugin {
  return {
    name: 'swapped',
    enforce: 'pre',
    async resolveId(source, importer, options) {
      const found = await this.resolve(source, importer, { ...options, skipSelf: true })
      return found === null ? null : (others[found.id] ?? found)
    },
  }
}

/**
 * Puts script and style into one file of HTML, which may run and ask for nothing else. The dashboard puts the figures
 * in the place of `{}`.
 */
function oneFile(): Plugin {
  return {
    name: 'one-file',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const files = Object.values(bundle)
        const script = files.map((file) => (file.type === 'chunk' ? file.code : '')).join('')
        const style = files.map((file) => (file.type === 'asset' ? String(file.source) : '')).join('')
        for (const name of Object.keys(bundle)) delete bundle[name]
        const code = script.replaceAll('</script', '<\\/script')
        const hash = createHash('sha256').update(code).digest('base64')
        const policy = `default-src 'none'; script-src 'sha256-${hash}'; style-src 'unsafe-inline'; img-src data:`
        const source = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>tokenweir report</title>
<style>${style}</style>
</head>
<body>
<div id="app"></div>
<script type="application/json" id="report">{}</script>
<script type="module">${code}</script>
</body>
</html>
`
        this.emitFile({ type: 'asset', fileName: 'report.html', source })
      },
    },
  }
}

/** Builds the report, an empty one, beside the page. */
const config: UserConfig = defineConfig({
  root: fileHere('.'),
  publicDir: false,
  plugins: [swapped(), oneFile()],
  build: {
    outDir: fileHere('../dist/ui'),
    emptyOutDir: false,
    target: ['chrome123', 'firefox125', 'safari17.5'],
    modulePreload: false,
    cssCodeSplit: false,
    rolldownOptions: { input: fileHere('report/report.tsx'), output: { codeSplitting: false } },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})

// Where Vite looks for it.
// oxlint-disable-next-line import/no-default-export
export default config
