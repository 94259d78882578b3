import { globSync } from 'node:fs'
import { dirname, relative } from 'node:path'

/**
 * Who may import whom: each folder of `src`, then of `ui`, with the folders beside it that it may import from.
 * `*` means any. A folder without an entry is an error.
 */
const source: Record<string, string> = {
  lib: '',
  'lib/files': 'lib',
  'lib/http': 'lib',
  'lib/process': 'lib',
  json: 'lib',
  secrets: 'lib',
  api: 'call',
  call: 'call',
  'call/fields': '',
  options: 'api call json lib',
  pricing: 'api call json lib options',

  // The gateway reaches the store and the raw log through the ports in src/call; process composes it all.
  'gateway/admission': 'api call lib',
  'gateway/upstream': 'call lib',
  'gateway/limits': 'api call control lib gateway/admission',
  'gateway/meter': 'call json lib',
  'gateway/recorder': 'call lib secrets',
  'gateway/raw-log': 'api call lib payloads gateway/http',
  'gateway/usage-injection': 'call lib gateway/http gateway/meter gateway/upstream',
  'gateway/http':
    'api call json lib gateway/admission gateway/call gateway/limits gateway/raw-log gateway/routing',
  'gateway/call':
    'api call lib gateway/admission gateway/http gateway/limits gateway/meter gateway/raw-log gateway/recorder gateway/routing gateway/upstream gateway/usage-injection',
  'gateway/routing':
    'call lib options secrets gateway/admission gateway/http gateway/upstream gateway/usage-injection',
  'gateway/handover': 'call control lib gateway/admission gateway/http gateway/limits',
  'gateway/process':
    'api call control lib metrics options payloads payloads/copy store/jobs store/sqlite store/write traces gateway/admission gateway/call gateway/handover gateway/http gateway/limits gateway/raw-log gateway/routing gateway/upstream gateway/usage-injection',

  'store/sqlite': 'call lib store/rollup',
  'store/rollup': 'call lib store/sqlite',
  'store/read': 'call lib store/rollup store/sqlite',
  'store/write': 'api call lib pricing store/jobs store/rollup store/sqlite',
  'store/share': 'call lib store/jobs store/rollup store/sqlite store/write',
  'store/jobs': 'api call lib pricing store/read store/rollup store/sqlite store/write',

  import: 'call json lib gateway/call gateway/recorder store/read store/sqlite',
  share: 'share/schema',
  'share/schema': 'call',
  'share/slots': 'api call lib gateway/admission share share/schema',
  'share/rows': 'call lib options pricing share share/schema store/rollup store/share store/sqlite',

  metrics: 'call lib',

  payloads: 'api call lib payloads/file payloads/record payloads/copy',
  'payloads/copy': 'call lib payloads payloads/record',
  'payloads/record': 'api call lib secrets payloads/copy',
  'payloads/file': 'call lib',

  traces: 'call lib secrets',

  export: 'api call lib query store/sqlite',

  query: 'api call lib pricing payloads/file store/read store/sqlite',
  control: 'api call lib options',
  alerts: 'api call json lib options query supervisor',
  supervisor: 'api call control lib options secrets',
  'dashboard/http': 'api call lib options pricing supervisor',
  'dashboard/events': 'api call json lib query supervisor dashboard/routes',
  'dashboard/routes': 'alerts api call lib options pricing query supervisor dashboard/events dashboard/http',
  dashboard: 'call lib dashboard/events dashboard/http dashboard/routes',
  mcp: 'api call dashboard/http dashboard/routes lib options query',
  demo: 'call lib',
  cli: '*',
  'cli/commands': '*',
  'cli/doctor': '*',
  'cli/database': '*',
  'cli/terminal': '*',
  'cli/upstreams': '*',
}

/** Views do not know one another, but Sessions lists calls as Calls does, and Settings knows the gateway. All of the page may import `src/api` and `src/call`, and nothing else of `src`. */
const page: Record<string, string> = {
  // One way to write figures, on the page and in a terminal.
  format: '../src/lib',
  data: 'format',
  design: 'data format',
  'design/form': 'design',
  'design/table': 'data design format',
  'design/overlay': 'design',
  charts: 'data design format',
  payloads: 'data design format',
  call: 'data design format payloads',
  filters: 'data design format',
  'empty-states': 'data design format',
  overview: 'call charts data design filters format empty-states',
  calls: 'call charts data design filters format empty-states',
  compare: 'charts data design filters format empty-states',
  sessions: 'call calls data design filters format empty-states payloads',
  live: 'call data design filters format empty-states payloads',
  costs: 'charts data design filters format empty-states',
  gateway: 'data design format',
  alerts: 'data design format',
  settings: 'data design format gateway',
  app: '*',
  report: 'charts compare data filters overview',
}

const sqliteBorder = {
  group: ['node:sqlite'],
  message: 'Only src/store and src/lib/files/file-lock speak to SQLite.',
}

/** Whoever may import one of these may import all of it. */
const parts: Readonly<Record<string, readonly string[]>> = {
  lib: ['lib', 'lib/files', 'lib/http', 'lib/process'],
  call: ['call', 'call/fields'],
  design: ['design', 'design/form', 'design/overlay', 'design/table'],
}

/** The rule for one folder. */
function border(
  folder: string,
  may: string | undefined,
  beside: (name: string) => string,
  also: string[],
): object {
  if (may === undefined) throw new Error(`oxlint.config.ts: ${folder} has no entry in the list of borders`)
  const allowed = [
    ...may
      .split(' ')
      .flatMap((name) => (name === '' ? [] : (parts[name] ?? [name])))
      .map(beside),
    ...also,
  ]
  const message = `${folder} imports ${allowed.join(', ') || 'nothing of ours'}: see the borders in oxlint.config.ts.`
  const patterns = [
    ...(folder.startsWith('src/store') ? [] : [sqliteBorder]),
    ...(may === '*'
      ? []
      : [{ group: ['../**', ...allowed.map((to) => `!${relative(folder, to)}/*`)], message }]),
  ]
  return {
    files: [`${folder}/*.{ts,tsx}`],
    rules: { 'no-restricted-imports': patterns.length === 0 ? 'off' : ['error', { patterns }] },
  }
}

/** The rules for all folders with source under `root`, so that a new folder cannot be without one. */
function borders(root: string, list: Record<string, string>, also: string[]): object[] {
  const folders = new Set<string>()
  for (const file of globSync(`${root}/*/**/*.{ts,tsx}`)) folders.add(dirname(file))
  return [...folders].map((folder) =>
    border(folder, list[relative(root, folder)], (name) => `${root}/${name}`, also),
  )
}

export default {
  plugins: ['typescript', 'import', 'unicorn', 'oxc', 'node'],
  categories: { correctness: 'error', suspicious: 'error', perf: 'error' },
  rules: {
    // A promise that rejects and is not caught ends the process.
    'typescript/no-floating-promises': ['error', { ignoreVoid: false }],
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/only-throw-error': 'error',
    'typescript/strict-boolean-expressions': ['error', { allowNullableBoolean: true }],
    'typescript/no-explicit-any': 'error',
    'typescript/no-non-null-assertion': 'error',
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'max-lines': ['error', { max: 400, skipBlankLines: false, skipComments: false }],
    'no-console': 'error',
    'typescript/explicit-module-boundary-types': 'error',
    eqeqeq: 'error',
    'no-await-in-loop': 'off',
    'no-underscore-dangle': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-array-reverse': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'no-shadow': 'off',
    'unicorn/prefer-add-event-listener': 'off',
    'unicorn/require-post-message-target-origin': 'off',
    'typescript/no-unsafe-type-assertion': 'off',
  },
  overrides: [
    ...borders('src', source, []),
    ...borders('ui', page, ['src/api', 'src/call']),
    {
      files: ['ui/**'],
      rules: {
        'typescript/no-floating-promises': 'error',
        'typescript/consistent-return': 'off',
        'import/no-unassigned-import': ['error', { allow: ['**/*.css'] }],
      },
    },
    // What a component returns is JSX.
    { files: ['ui/**/*.tsx'], rules: { 'typescript/explicit-module-boundary-types': 'off' } },
    // The type of a schema that a function makes has many lines.
    {
      files: ['src/{api/*,options/schema}.ts'],
      rules: { 'typescript/explicit-module-boundary-types': 'off' },
    },
    { files: ['src/lib/fault.ts'], rules: { 'no-console': 'off' } },
    { files: ['src/lib/files/file-lock.ts'], rules: { 'no-restricted-imports': 'off' } },
    { files: ['oxlint.config.ts'], rules: { 'import/no-default-export': 'off' } },
    {
      files: ['src/cli/**', 'test/**', 'bench/**', 'build/**', '**/*.test.ts'],
      rules: { 'no-console': 'off' },
    },
    { files: ['**/*.test.ts', 'test/**', 'bench/**', 'build/**'], rules: { 'no-restricted-imports': 'off' } },
    {
      files: ['**/*.test.ts', 'test/**', 'bench/**'],
      rules: {
        'typescript/no-floating-promises': [
          'error',
          {
            allowForKnownSafeCalls: [
              { from: 'package', name: ['test', 'describe', 'it', 'suite'], package: 'node:test' },
            ],
          },
        ],
        'typescript/no-non-null-assertion': 'off',
        'max-lines': 'off',
        'typescript/strict-boolean-expressions': 'off',
      },
    },
  ],
  ignorePatterns: ['dist', 'node_modules'],
}
