import { upstreamKeyVariable, withheldFromDefault } from '../options/upstream-key.ts'

/** The variables that a gateway gets besides its secrets. */
const passedOn: ReadonlySet<string> = new Set(
  [
    'PATH HOME USER LOGNAME LANG TZ TMPDIR NO_COLOR',
    'NODE_OPTIONS NODE_COMPILE_CACHE NODE_DISABLE_COMPILE_CACHE NODE_EXTRA_CA_CERTS NODE_USE_SYSTEM_CA',
    'HTTP_PROXY HTTPS_PROXY NO_PROXY http_proxy https_proxy no_proxy SSL_CERT_FILE SSL_CERT_DIR',
    // The address where rows are shared, which is a secret, because it contains a password.
    'TOKENWEIR_SHARE',
    // Says whose folder a gateway of `sudo` may use.
    'SUDO_UID',
    // Without these no program starts on Windows.
    'SystemRoot SystemDrive ComSpec PATHEXT TEMP TMP USERPROFILE',
  ].flatMap((names) => names.split(' ')),
)

/** The secrets that a new gateway gets. */
export interface ChildSecrets {
  /** True if the same person set the upstream's address and `UPSTREAM_API_KEY`, so that the key may go there. */
  readonly upstreamIsTrusted: boolean
  readonly adminToken: string | null
  /** Further variables, which hold keys of upstreams. */
  readonly variables?: readonly string[]
}

/**
 * The environment of a new gateway: only variables with these names. Secrets are passed here, because every
 * user of the machine can read arguments.
 */
export function childEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  { upstreamIsTrusted, adminToken, variables = [] }: ChildSecrets = {
    upstreamIsTrusted: false,
    adminToken: null,
  },
): Record<string, string> {
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    const isPassedOn = passedOn.has(name) || /^(?:LC|OTEL)_|^PG[A-Z]+$/.test(name)
    if (value !== undefined && isPassedOn) env[name] = value
  }
  for (const name of variables) {
    const value = environment[name]
    if (value !== undefined) env[name] = value
  }
  const key = environment[upstreamKeyVariable] ?? ''
  if (upstreamIsTrusted && key !== '') env[upstreamKeyVariable] = key
  else if (env[upstreamKeyVariable] !== undefined) Object.assign(env, withheldFromDefault)
  if (adminToken !== null) env['TOKENWEIR_ADMIN_TOKEN'] = adminToken
  return env
}
