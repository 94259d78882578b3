/** Counts new rows in the writer's thread, and writes the text of a scrape there. */
import { readdirSync } from 'node:fs'
import type { ObserveRows, RowObserver } from '../call/row-observer.ts'
import { CallSeries } from './call-series.ts'
import { labelText } from './model-labels.ts'
import { Counter, Gauge, Registry } from './prom-client.ts'
import {
  limitLabels,
  loopGauges,
  openGauges,
  type ScrapeQuestion,
  processCounters,
} from './scrape-question.ts'

/** The labels of `tokenweir_build_info`. */
export interface BuildInfo {
  readonly version: string
  readonly instance: string
}

export const observeRows: ObserveRows<BuildInfo> = (build): RowObserver => {
  const [all, open] = [new Registry(), new Registry()]
  const registers = [all]
  const calls = new CallSeries(all)
  const info = { name: 'tokenweir_build_info', help: 'The gateway that answers.', registers }
  new Gauge({ ...info, labelNames: ['version', 'instance'] }).set({ ...build }, 1)
  const warned = { name: 'tokenweir_warnings', help: 'Warnings of /health by their codes.', registers }
  const warnings = new Gauge({ ...warned, labelNames: ['code'] })
  const limitGauge = (name: string, help: string): Gauge =>
    new Gauge({ name, help, registers, labelNames: limitLabels })
  const providerLimits = limitGauge(
    'tokenweir_provider_limit',
    'A limit of a provider, from its last answer.',
  )
  const providerLeft = limitGauge('tokenweir_provider_remaining', 'What was left of it.')
  const gauges = new Map<string, Gauge>()
  const addGauges = (names: Readonly<Record<string, string>>, registers: Registry[]): void => {
    for (const [name, help] of Object.entries(names)) gauges.set(name, new Gauge({ name, help, registers }))
  }
  addGauges(openGauges, [all, open])
  addGauges(loopGauges, registers)
  const counters = new Map(
    Object.entries(processCounters).map(([name, help]) => [name, new Counter({ name, help, registers })]),
  )
  addProcessSeries(all)

  const answer = async (question: string): Promise<string> => {
    const { full, isOpenMetrics, values, warnings: codes, limits }: ScrapeQuestion = JSON.parse(question)
    for (const [name, value] of Object.entries(values)) {
      gauges.get(name)?.set(value)
      counters.get(name)?.reset()
      counters.get(name)?.inc(value)
    }
    warnings.reset()
    for (const code of codes) warnings.inc({ code })
    providerLimits.reset()
    providerLeft.reset()
    for (const { labels, limit, remaining } of limits) {
      const readable = { ...labels, model: labelText(labels.model) }
      if (limit !== null) providerLimits.set(readable, limit)
      if (remaining !== null) providerLeft.set(readable, remaining)
    }
    const text = await (full ? all : open).metrics()
    return isOpenMetrics ? asOpenMetrics(text) : text
  }
  return { recorded: (rows) => calls.count(rows), answer }
}

/**
 * Converts the text to OpenMetrics. prom-client could write OpenMetrics, but would then omit `_total` in both
 * formats.
 */
function asOpenMetrics(text: string): string {
  return `${text.replaceAll(/^# (HELP|TYPE) (\S+)_total /gm, '# $1 $2 ').replaceAll('\n\n', '\n')}# EOF\n`
}

/** Adds figures of the whole process under their usual names. Each thread can read them. */
function addProcessSeries(registry: Registry): void {
  const registers = [registry]
  const gauge = (name: string, help: string, read: () => number | null): void => {
    const collect = function (this: Gauge): void {
      const value = read()
      if (value === null) this.remove()
      else this.set(value)
    }
    void new Gauge({ name, help, registers, collect })
  }
  const cpuSeconds = (name: string, help: string, of: readonly ('user' | 'system')[]): void => {
    const collect = function (this: Counter): void {
      const used = process.cpuUsage()
      this.reset()
      this.inc(of.reduce((sum, kind) => sum + used[kind], 0) / 1e6)
    }
    void new Counter({ name, help, registers, collect })
  }
  cpuSeconds('process_cpu_user_seconds_total', 'Processor time outside the kernel.', ['user'])
  cpuSeconds('process_cpu_system_seconds_total', 'Processor time in the kernel.', ['system'])
  cpuSeconds('process_cpu_seconds_total', 'Processor time of all threads.', ['user', 'system'])
  const startedAtS = Date.now() / 1000 - process.uptime()
  gauge('process_start_time_seconds', 'Start of the process since the Unix epoch.', () => startedAtS)
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss())
  gauge('process_open_fds', 'Open file descriptors, sockets among them.', openFiles)
}

/** The number of open files; null where the system does not report it. */
function openFiles(): number | null {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return null
  }
}
