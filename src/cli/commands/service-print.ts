import { upOptionTable } from '../../options/dashboard-options.ts'
import { dirname, isAbsolute } from 'node:path'
import { argumentsOf, type OptionsOf, type OptionTable } from '../../options/option-spec.ts'
import { ownCommand } from '../gateway-command.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'

export const example = 'tokenweir service print --max-concurrent 2'
export const use = 'none'
export const table = upOptionTable

/** Seconds after the last call for the dashboard to end. */
const afterDrainS = 10

/**
 * `tokenweir service print`: prints a systemd unit that runs `tokenweir up` with these options, as a separate user.
 */
export const run: CommandRun<typeof table> = (options, { terminal }) => {
  const { print, warn, isWatched } = terminal
  const givenOptions = Object.fromEntries(
    Object.entries(table).filter(
      ([key, { kind }]) => options.setBy[key as keyof typeof table] !== null && kind.isSecret !== true,
    ),
  )
  const args = argumentsOf(givenOptions as OptionTable<Readonly<Record<string, unknown>>>, options)
  const command = [...ownCommand, 'up', ...args].map(quoted).join(' ')
  const folders = foldersElsewhere(options)
  // MemoryDenyWriteExecute is missing, because V8 runs memory that it has written.
  print(`# /etc/systemd/system/tokenweir.service
# Secrets are in /etc/tokenweir.env (mode 0600): UPSTREAM_API_KEY=…, TOKENWEIR_ADMIN_TOKEN=…, TOKENWEIR_ALERT_WEBHOOK=…
# Its files are in ${['/var/lib/tokenweir', ...folders].join(', ')}.

[Unit]
Description=tokenweir, an inference gateway, and its dashboard
Wants=network-online.target
After=network-online.target

[Service]
Type=exec
ExecStart=${command}
EnvironmentFile=-/etc/tokenweir.env
Environment=NODE_COMPILE_CACHE=%C/tokenweir
Restart=on-failure
RestartPreventExitStatus=2
KillMode=mixed
TimeoutStopSec=${Math.ceil(options.drainTimeoutMs / 1000) + afterDrainS}
DynamicUser=yes
StateDirectory=tokenweir
StateDirectoryMode=0700
WorkingDirectory=%S/tokenweir
CacheDirectory=tokenweir
CacheDirectoryMode=0700
UMask=0077
CapabilityBoundingSet=
LockPersonality=yes
NoNewPrivileges=yes
PrivateDevices=yes
PrivateTmp=yes
PrivateUsers=yes
ProtectClock=yes
ProtectControlGroups=yes
ProtectHome=${isInHome(command) ? 'read-only' : 'yes'}
ProtectHostname=yes
ProtectKernelLogs=yes
ProtectKernelModules=yes
ProtectKernelTunables=yes
ProtectProc=invisible
ProtectSystem=strict
${folders.length === 0 ? '' : `ReadWritePaths=${folders.map(quotedPath).join(' ')}\n`}RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
SystemCallArchitectures=native
SystemCallErrorNumber=EPERM
SystemCallFilter=@system-service
SystemCallFilter=~@privileged

[Install]
WantedBy=multi-user.target
`)
  for (const folder of folders)
    warn(
      `# The service runs as a user of its own: let it write ${folder}, as by setting a group and SupplementaryGroups=.\n`,
    )
  if (ownCommand.some((file) => isTemporary(file)))
    warn(
      '# Node or tokenweir is in a temporary folder, which the service does not see: install it elsewhere.\n',
    )
  if (isInHome(command)) {
    warn('# Node or tokenweir is in a home folder, which the service may not be able to read.\n')
  }
  if (isWatched) {
    warn('# As root: tokenweir service print > /etc/systemd/system/tokenweir.service\n')
    warn('#          systemctl daemon-reload && systemctl enable --now tokenweir\n')
  }
  return 0
}

/**
 * Folders outside the service's own in which the options place files. Throws {@link OptionError} for a folder
 * that the service cannot see.
 */
function foldersElsewhere(options: OptionsOf<typeof table>): readonly string[] {
  const files = (['db', 'rawLogFile', 'pidFile'] as const).filter(
    (key) => options.setBy[key] !== null && isAbsolute(options[key]),
  )
  for (const key of files) {
    if (isInHome(options[key]) || isTemporary(options[key]))
      throw new OptionError(
        `${options.setBy[key]} ${options[key]} is in a home or a temporary folder, which the service does not see: choose another, as below /srv`,
      )
  }
  const folders = files.map((key) => dirname(options[key]))
  return [...new Set(folders)].filter((folder) => !`${folder}/`.startsWith('/var/lib/tokenweir/'))
}

function isTemporary(path: string): boolean {
  return /^\/(?:var\/)?tmp\//.test(path)
}

function isInHome(command: string): boolean {
  return /(?:^|[ "=])\/(?:home|root|run\/user)\//.test(command)
}

/** A path as a value in a unit. Only command lines expand `$`. */
function quotedPath(path: string): string {
  return quoted(path).replaceAll('$$', '$')
}

/** A word of a command line in a unit, in which `%` and `$` are escaped (systemd.service(5), "Command lines"). */
function quoted(text: string): string {
  const escaped = text.replaceAll('%', '%%').replaceAll('$', '$$$$')
  return /^[\w./:@%=,+*$-]+$/.test(escaped) ? escaped : `"${escaped.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}
