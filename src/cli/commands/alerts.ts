import { dirname } from 'node:path'
import { readAlertRecord, testMessage } from '../../alerts/alert-file.ts'
import { alertFilesOf, lastLook, noWebhook } from '../../alerts/alert-service.ts'
import { AlertSettingsFile } from '../../alerts/alert-settings.ts'
import { tryAlert } from '../../alerts/send-alert.ts'
import { controlFolder } from '../../control/control-folder.ts'
import { alertOptions } from '../../options/dashboard-options.ts'
import { optionTable } from '../../options/option-spec.ts'
import { readReceiver } from '../alert-receiver.ts'
import { exitCode } from '../exit-code.ts'
import { database, flag } from '../option-rows.ts'
import { type CommandRun, OptionError } from '../parse-options.ts'
import { clockTime } from '../terminal/figures.ts'
import { printable } from '../terminal/printable.ts'

export const table = optionTable({
  ...alertOptions,
  json: flag('print all of it as one JSON object'),
  db: database('file of the telemetry database; the settings of alerts lie beside it'),
})

export const positional = ['[test]', 'send one message and say what came back', 'message'] as const

/** `tokenweir alerts`: the rules and what is active; `alerts test` sends a message. */
export const run: CommandRun<typeof table> = async (
  options,
  { env, positionals: [word], terminal: { clock, print, warn } },
) => {
  const files = alertFilesOf(controlFolder(dirname(options.db)))
  const settings = new AlertSettingsFile(files.settings)
  settings.look()
  if (word === 'test') {
    const receiver = readReceiver(options, env, settings.content.webhook)
    if (receiver === null) throw new OptionError(noWebhook)
    const message = testMessage(clock.wallTime())
    const { isDelivered, detail } = await tryAlert(receiver, message, clock, new AbortController().signal)
    const { host } = new URL(receiver.url)
    if (options.json) print(`${JSON.stringify({ delivered: isDelivered, host, detail })}\n`)
    else if (isDelivered) print(`${host} took the message: ${detail}\n`)
    else warn(`tokenweir: ${host} did not take the message: ${detail}\n`)
    return isDelivered ? 0 : exitCode.fault
  }
  if (word !== undefined) throw new OptionError(`there is only \`alerts test\`; got ${JSON.stringify(word)}`)
  const record = readAlertRecord(files.record)
  const { receiver } = record
  const report = lastLook(settings, record)
  if (options.json) {
    print(`${JSON.stringify({ ...report, receiver })}\n`)
    return 0
  }
  const { rules, active, problem, looked_at } = report
  if (problem !== null) warn(`tokenweir: ${problem} The last good rules go on.\n`)
  const nowMs = clock.wallTime()
  for (const { code, on, asks } of rules) print(`${on ? 'on ' : 'off'}  ${code.padEnd(17)} ${asks}\n`)
  print(`\n${active.length === 0 ? 'Nothing is active' : 'Active'}, as of the last look: `)
  print(looked_at === null ? 'never; a dashboard looks\n' : `${clockTime(Date.parse(looked_at), nowMs)}\n`)
  for (const { title, subject, text, since } of active) {
    const of = subject === null ? '' : ` (${subject})`
    print(`  ${clockTime(Date.parse(since), nowMs)}  ${printable(`${title}${of}: ${text}`)}\n`)
  }
  print(
    receiver === null ? 'Messages go nowhere: there is no webhook\n' : `Messages go to ${receiver.host}\n`,
  )
  return 0
}
