/**
 * Pages that poll an address of the dashboard. They stand for other machines, so they take only what the processes
 * under test leave of this one.
 */
import { setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { PagesCommand, PagesReport } from './program-messages.ts'

const lowestPriority = 19

let answersMs: number[] = []
let failed = 0

async function poll(url: string, everyMs: number, firstMs: number, signal: AbortSignal): Promise<void> {
  const wait = (ms: number): Promise<unknown> => delay(ms, undefined, { signal }).catch(() => undefined)
  await wait(firstMs)
  while (!signal.aborted) {
    const startMs = performance.now()
    const answer = await fetch(url).catch(() => null)
    await answer?.arrayBuffer()
    if (answer?.ok !== true) failed += 1
    answersMs.push(performance.now() - startMs)
    await wait(Math.max(0, everyMs - (performance.now() - startMs)))
  }
}

let stop: (() => Promise<void>) | null = null

function begin({ url, pages, everyMs }: Extract<PagesCommand, { do: 'poll' }>): void {
  const controller = new AbortController()
  const polls = Array.from({ length: pages }, (_, page) =>
    poll(url, everyMs, (page * everyMs) / pages, controller.signal),
  )
  stop = async () => {
    controller.abort()
    await Promise.all(polls)
  }
}

async function end(): Promise<void> {
  await stop?.()
  report({ answersMs, failed })
  answersMs = []
  failed = 0
}

function report(message: PagesReport): void {
  process.send?.(message)
}

setPriority(lowestPriority)
process.on('message', (command: PagesCommand) => {
  if (command.do === 'poll') begin(command)
  else void end()
})
process.on('disconnect', () => process.exit())
report({ ready: true })
