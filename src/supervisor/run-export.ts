import { once } from 'node:events'
import { Readable } from 'node:stream'
import { type CallFilter, namedFilters } from '../call/call-filter.ts'
import { JobError, type JobProgram } from './run-job.ts'
import { reportFault } from '../lib/fault.ts'

/**
 * The output of `tokenweir db export`; resolves with the first bytes. The stream fails if the process does, and its destruction
 * ends the process. Rejects with {@link JobError} if the export could not begin.
 */
export async function exportedBy(
  { child, errorText: words }: JobProgram,
  onEnd: () => void,
): Promise<Readable> {
  const ended = new Promise<JobError | null>((resolve) => {
    child.once('error', (error) => resolve(new JobError('job_failed', `Export: ${error.message}`)))
    child.once('close', (code) => {
      const message = words() || 'The export stopped before it was complete.'
      resolve(code === 0 ? null : new JobError('job_failed', message))
    })
  })
  ended.then(onEnd).catch(reportFault)
  await Promise.race([ended, once(child.stdout, 'readable')])
  // The end of the output is `readable`, too.
  const failure = child.stdout.readableLength > 0 ? null : await ended
  if (failure !== null) throw failure
  const bytes = Readable.from(bytesOf(child.stdout, ended), { objectMode: false })
  bytes.once('close', () => child.kill('SIGKILL'))
  return bytes
}

async function* bytesOf(out: Readable, ended: Promise<JobError | null>): AsyncGenerator<Buffer> {
  for await (const chunk of out) yield chunk as Buffer
  const failure = await ended
  if (failure !== null) throw failure
}

/** The options of `tokenweir db export` for a filter. */
export function filterArguments({ fromMs, toMs, failedOnly, exactly, tag, ...fields }: CallFilter): string[] {
  const instant = (ms: number | undefined): string | undefined =>
    ms === undefined ? undefined : new Date(ms).toISOString()
  const values: readonly (readonly [name: string, value: unknown])[] = [
    ['from', instant(fromMs)],
    ['to', instant(toMs)],
    ['errors', failedOnly],
    ['q', exactly],
    ['tag', tag],
    ...namedFilters.map(({ name }) => [name, fields[name]] as const),
  ]
  return values.flatMap(([name, value]) => {
    const all: readonly unknown[] = Array.isArray(value) ? value : value === undefined ? [] : [value]
    const option = `--${name.replaceAll('_', '-')}`
    return all.map((value) => (value === true ? option : `${option}=${String(value)}`))
  })
}
