import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { type Plugin, type UserConfig, defineConfig } from 'vite'

const fileHere = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Smaller files are not compressed, because that saves nothing noticeable. */
const leastPackedBytes = 1024

/** Adds the theme's script to the head of every page, as a separate file that runs before the first paint. */
function themeBeforePaint(): Plugin {
  const name = 'theme-at-load.js'
  return {
    name: 'theme-before-paint',
    buildStart() {
      this.addWatchFile(fileHere(`app/${name}`))
      this.emitFile({ type: 'asset', name, source: readFileSync(fileHere(`app/${name}`), 'utf8') })
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_, { bundle = {} }) => {
        const file = Object.values(bundle).find((one) => one.type === 'asset' && one.names.includes(name))
        if (file === undefined) throw new Error('the script of the theme is not in the bundle')
        return [{ tag: 'script', attrs: { src: `/${file.fileName}` }, injectTo: 'head-prepend' }]
      },
    },
  }
}

/** Adds compressed forms of each file, so that the dashboard need not compress them. */
function packed(): Plugin {
  return {
    name: 'packed',
    apply: (_, { command }) => command === 'build',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        for (const file of Object.values(bundle)) {
          const source = Buffer.from(file.type === 'chunk' ? file.code : file.source)
          if (source.byteLength < leastPackedBytes) continue
          const forms = { br: brotliCompressSync(source), gz: gzipSync(source, { level: 9 }) }
          for (const [ending, source] of Object.entries(forms)) {
            this.emitFile({ type: 'asset', fileName: `${file.fileName}.${ending}`, source })
          }
        }
      },
    },
  }
}

/**
 * Writes `report.html`: the page with its script and style in one file, which may send no requests. The dashboard
 * writes the figures in place of `{}`.
 */
function oneFile(): Plugin {
  return {
    name: 'one-file',
    apply: (_, { command }) => command === 'build',
    generateBundle: {
      order: 'post',
      handler(_, bundle) {
        const files = Object.values(bundle)
        const script = files.find((file) => file.type === 'chunk' && file.name === 'index')
        const style = files.find((file) => file.type === 'asset' && file.names.includes('style.css'))
        if (script?.type !== 'chunk' || style?.type !== 'asset' || script.imports.length > 0) {
          throw new Error('the first view is not one script and one style')
        }
        const code = script.code.replaceAll('</script', '<\\/script')
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
<style>${String(style.source)}</style>
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

/** Builds the page into `dist/ui`, from which the dashboard serves it. */
const config: UserConfig = defineConfig({
  root: fileHere('.'),
  base: '/',
  publicDir: false,
  // The report comes last, because it is never served compressed.
  plugins: [themeBeforePaint(), packed(), oneFile()],
  build: {
    outDir: fileHere('../dist/ui'),
    emptyOutDir: true,
    // The first versions with popovers and light-dark(), for which there is no fallback.
    target: ['chrome123', 'firefox125', 'safari17.5'],
    // Scripts and styles of other views are loaded when they are opened.
    modulePreload: false,
    rolldownOptions: {
      // On a busy machine, these warnings would appear at every install.
      checks: { bundlerTimings: false },
      input: [fileHere('index.html'), fileHere('sign-in.html')],
      output: {
        codeSplitting: {
          groups: [
            // The styles of the first view are a separate file, because the sign-in page shares some of them.
            // Otherwise that page would load the app's script.
            {
              name: 'style',
              test: /\/(?:app|design|charts|filters|overview|call|compare|report)\/(?!find|help|columns-view|setting-row)[^/]+\.css$/,
              priority: 1,
            },
            // The first view is one request, even if parts that load later share some of its code.
            { name: 'index', test: /\/main\.tsx$/ },
          ],
        },
      },
    },
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
})

// Vite looks for the file at this path.
// oxlint-disable-next-line import/no-default-export
export default config
