import { dirname } from 'node:path'
import { readAlertRecord, testMessage } from '../../alerts/alert-file.ts'
import { alertFilesOf, lastCheck, noWebhook } from '../../alerts/alert-service.ts'
import { AlertSettingsFile } from '../../alerts/alert-settings.ts'
import { tryAlert } from '../../alerts/send-alert.ts'
import { controlFolder } from '../../control/control-folder.ts'
import { alertOptions } from '../../options/dashboard-options.ts'
import { optionTable } from '../../options/option-spec.ts'
import { readReceiver } from '../alert-receiver.ts'
import { exitCode } from '../exit-code.ts'
import { database, flag } from '../option-rows.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'
import { clockTime } from '../terminal/clock-time.ts'
import { printable } from '../terminal/printable.ts'

export const example = 'tokenweir alerts'
export const use = 'reads'
export const table = optionTable({
  ...alertOptions,
  json: flag('print one JSON object'),
  db: database('file of the telemetry database; the alert settings are next to it'),
})

export const positional = ['[test]', 'send one message and show the response', 'message'] as const

/** `tokenweir alerts`: the rules and the active alerts; `alerts test` sends a message. */
export const run: CommandRun<typeof table> = async (
  options,
  { env, positionals: [word], terminal: { clock, print, warn } },
) => {
  const files = alertFilesOf(controlFolder(dirname(options.db)))
  const settings = new AlertSettingsFile(files.settings)
  settings.reloadIfChanged()
  if (word === 'test') {
    const receiver = readReceiver(options, env, settings.content.webhook)
    if (receiver === null) throw new OptionError(noWebhook)
    const message = testMessage(clock.wallTime())
    const { isDelivered, detail } = await tryAlert(receiver, message, clock, new AbortController().signal)
    const { host } = new URL(receiver.url)
    if (options.json) print(`${JSON.stringify({ delivered: isDelivered, host, detail })}\n`)
    else if (isDelivered) print(`${host} accepted the message: ${detail}\n`)
    else warn(`tokenweir: ${host} did not accept the message: ${detail}\n`)
    return isDelivered ? 0 : exitCode.fault
  }
  if (word !== undefined) throw new OptionError(`there is only \`alerts test\`; got ${JSON.stringify(word)}`)
  const record = readAlertRecord(files.record)
  const { receiver } = record
  const report = lastCheck(settings, record)
  if (options.json) {
    print(`${JSON.stringify({ ...report, receiver })}\n`)
    return 0
  }
  const { rules, active, problem, looked_at } = report
  if (problem !== null) warn(`tokenweir: ${problem} The last valid rules stay in force.\n`)
  const nowMs = clock.wallTime()
  for (const { code, on, asks } of rules) print(`${on ? 'on ' : 'off'}  ${code.padEnd(17)} ${asks}\n`)
  print(`\n${active.length === 0 ? 'No active alerts' : 'Active'}, last checked: `)
  print(looked_at === null ? 'never; the dashboard checks\n' : `${clockTime(Date.parse(looked_at), nowMs)}\n`)
  for (const { title, subject, text, since } of active) {
    const of = subject === null ? '' : ` (${subject})`
    print(`  ${clockTime(Date.parse(since), nowMs)}  ${printable(`${title}${of}: ${text}`)}\n`)
  }
  print(
    receiver === null ? 'Alerts are not sent: no webhook is set\n' : `Alerts are sent to ${receiver.host}\n`,
  )
  return 0
}
